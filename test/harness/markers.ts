/** Texts that must not turn up where they do not belong, by what they are; of one thing there may be several spellings. */
export type Markers = Record<string, string | string[]>;

/** The names of the markers that a text holds, in whatever usual form. */
export function findMarkers(haystack: string, markers: Markers): string[] {
  const searched = haystack.toLowerCase();
  const holds = (spelling: string) => formsOf(spelling).some((form) => searched.includes(form));
  return Object.keys(markers).filter((name) => [markers[name] ?? []].flat().some(holds));
}

/**
 * Every form in which a text usually turns up: as it is, escaped in JSON, in JSON within JSON, in an address, and each of the first two
 * in hex and base64. All in lower case.
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

/** Base64 of bytes that may stand anywhere in longer ones: what of it does not depend on their neighbours. */
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
