// What the quickstart in C# uses and Mono does not have.
using System.Collections.Generic;
using System.Linq;
using System.Text;
using System.Web.Script.Serialization;

static class Program
{
    static void Main() => Quickstart.Main().GetAwaiter().GetResult();
}

static class Convert
{
    public static string ToHexString(byte[] bytes) => string.Concat(bytes.Select(one => one.ToString("X2")));
}

static class SHA256
{
    public static byte[] HashData(byte[] bytes) => System.Security.Cryptography.SHA256.Create().ComputeHash(bytes);
}

static class HMACSHA256
{
    public static byte[] HashData(byte[] key, byte[] bytes) => new System.Security.Cryptography.HMACSHA256(key).ComputeHash(bytes);
}

static class Random
{
    public static readonly System.Random Shared = new System.Random();
}

namespace System.Text.Json
{
    static class JsonSerializer
    {
        public static byte[] SerializeToUtf8Bytes(object value) =>
            Encoding.UTF8.GetBytes(new JavaScriptSerializer().Serialize(value));
    }

    class JsonDocument
    {
        public JsonElement RootElement;

        public static JsonDocument Parse(string text) =>
            new JsonDocument { RootElement = new JsonElement { Value = new JavaScriptSerializer().DeserializeObject(text) } };
    }

    struct JsonElement
    {
        public object Value;

        public JsonElement GetProperty(string name) =>
            new JsonElement { Value = ((Dictionary<string, object>)Value)[name] };

        public string GetString() => (string)Value;

        public override string ToString() => $"{Value}";
    }
}
