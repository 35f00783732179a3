/** Strings that a test searches for, by name; a name can have several spellings. */
export type Markers = Record<string, string | string[]>;

/** The names of the markers that a text contains, in any form of `formsOf`. */
export function findMarkers(haystack: string, markers: Markers): string[] {
  const searched = haystack.toLowerCase();
  const holds = (spelling: string) => formsOf(spelling).some((form) => searched.includes(form));
  return Object.keys(markers).filter((name) => [markers[name] ?? []].flat().some(holds));
}

/**
 * The usual encodings of a text: plain, escaped in JSON, in JSON within JSON, percent-encoded, and the first two in hex and base64. All in
 * lower case.
 */
export function formsOf(text: string): string[] {
  const json = escaped(text);
  const ascii = json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const url = encodeURIComponent(text);
  const plain = [text, json, escaped(json), ascii, escaped(ascii), url, url.replaceAll('%20', '+')];
  const encoded = [text, json].flatMap((one) => [Buffer.from(one).toString('hex'), ...base64Within(Buffer.from(one))]);
  return [...new Set([...plain, ...encoded].map((form) => form.toLowerCase()))];
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Base64 of bytes at any position in longer data: the characters that do not depend on the surrounding bytes. */
function base64Within(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const before = [0, 2, 3][offset];
    const isWhole = (offset + bytes.length) % 3 === 0;
    const base64 = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const own = base64.slice(before, isWhole ? undefined : -1);
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
