const encoder = new TextEncoder();

/**
 * Copies bytes, so that later changes by the caller have no effect. A string is encoded as UTF-8.
 *
 * @throws {TypeError} for half of a surrogate pair, which has no bytes in UTF-8. Encoders would replace it silently.
 */
export function bytesOf(body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  if (typeof body !== 'string') return new Uint8Array(body);
  mustBeWellFormed(body, 'The text');
  return encoder.encode(body);
}

export function mustBeWellFormed(text: string, what: string): void {
  if (/\p{Surrogate}/u.test(text))
    throw new TypeError(`${what} contains half of a surrogate pair, which is not a character.`);
}
