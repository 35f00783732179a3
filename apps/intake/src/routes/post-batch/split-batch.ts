import { Problem } from '@orders/domain/problems.ts';

const LINE_FEED = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/**
 * Splits NDJSON into its orders, as slices of its bytes without line breaks and surrounding white space. Skips empty lines and a byte
 * order mark at the start.
 */
export function* splitLines(body: Buffer): Generator<Buffer> {
  // Empty lines count as white space before the next line, so a body of empty lines only is scanned once, in linear time.
  for (let start = skipSpace(body, skipByteOrderMark(body)); start < body.length; ) {
    const found = body.indexOf(LINE_FEED, start);
    const end = found < 0 ? body.length : found;
    yield trimmed(body, start, end);
    start = skipSpace(body, end);
  }
}

/**
 * Splits a JSON array into its elements, as slices of its bytes without surrounding white space. Skips a byte order mark at the start.
 * The body is a JSON array if this generator completes and each element is JSON.
 *
 * @param maxBytes max length of one element.
 * @throws {Problem} `malformed_body` if the body is not an array, possibly after some elements; `payload_too_large`.
 */
export function* splitArray(body: Buffer, maxBytes: number): Generator<Buffer> {
  const open = skipSpace(body, skipByteOrderMark(body));
  if (body[open] !== OPEN_BRACKET) {
    throw malformed('is not a JSON array. To send one order per line, use application/x-ndjson');
  }
  let start = skipSpace(body, open + 1);
  let index = 0;
  let depth = 0;
  let inString = false;
  for (let at = start; at < body.length; at++) {
    const byte = body[at];
    if (at - start > maxBytes) throw tooLong(index, maxBytes);
    if (inString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (depth > 0) {
      if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
    } else if (byte === COMMA) {
      yield element(body, start, at);
      index += 1;
      start = skipSpace(body, at + 1);
      at = start - 1;
    } else if (byte === CLOSE_BRACKET) {
      if (index > 0 || at > start) yield element(body, start, at);
      if (skipSpace(body, at + 1) < body.length) throw malformed('has content after its JSON array');
      return;
    }
  }
  throw malformed('ends before its JSON array is complete');
}

function element(body: Buffer, start: number, end: number): Buffer {
  const bytes = trimmed(body, start, end);
  if (bytes.length === 0) throw malformed('has an empty element in its JSON array');
  // A single order may start with a byte order mark; an element of a JSON array may not.
  if (bytes[0] === 0xef) throw malformed('has a byte order mark within its JSON array');
  return bytes;
}

function tooLong(index: number, maxBytes: number): Problem {
  const detail = `Element ${index} of the array is over ${maxBytes} bytes, too long to parse.`;
  return new Problem('payload_too_large', { detail });
}

function malformed(what: string): Problem {
  return new Problem('malformed_body', { detail: `The body ${what}.` });
}

function skipByteOrderMark(body: Buffer): number {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
}

function trimmed(body: Buffer, start: number, end: number): Buffer {
  let last = end;
  while (last > start && isSpace(body[last - 1])) last--;
  return body.subarray(start, last);
}

function skipSpace(body: Buffer, from: number): number {
  let at = from;
  while (at < body.length && isSpace(body[at])) at++;
  return at;
}

/** JSON white space (RFC 8259, section 2). */
function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
