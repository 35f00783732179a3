const encoder = new TextEncoder();

/**
 * A copy of the bytes, so that later changes by the caller have no effect; a string becomes UTF-8.
 *
 * @throws {TypeError} for half of a surrogate pair, which UTF-8 has no bytes for: all of them would become the same replacement character.
 */
export function bytesOf(body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  if (typeof body !== 'string') return new Uint8Array(body);
  mustBeWellFormed(body, 'The text');
  return encoder.encode(body);
}

export function mustBeWellFormed(text: string, what: string): void {
  if (/\p{Surrogate}/u.test(text))
    throw new TypeError(`${what} holds half of a surrogate pair, which is no character.`);
}
