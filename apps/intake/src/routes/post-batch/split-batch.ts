import { Problem } from '@orders/domain';

const LINE_FEED = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/**
 * The orders of a batch of lines (NDJSON), as stretches of its bytes: without their line breaks and the white space around them. Blank
 * lines are skipped, and a byte order mark at the beginning.
 */
export function* splitLines(body: Buffer): Generator<Buffer> {
  // Blank lines are white space before a line, so that a body of nothing else is passed over once and not line by line.
  for (let start = skipSpace(body, afterMark(body)); start < body.length; ) {
    const found = body.indexOf(LINE_FEED, start);
    const end = found < 0 ? body.length : found;
    yield trimmed(body, start, end);
    start = skipSpace(body, end);
  }
}

/**
 * The elements of a JSON array, as stretches of its bytes, without the white space around them. The body is an array in JSON if this
 * comes to its end and each element is JSON. A byte order mark at the beginning is skipped.
 *
 * @param maxBytes of one element: a longer one is not looked into.
 * @throws {Problem} `malformed_body` when it is no array, maybe only behind elements that were given; `payload_too_large`.
 */
export function* splitArray(body: Buffer, maxBytes: number): Generator<Buffer> {
  const open = skipSpace(body, afterMark(body));
  if (body[open] !== OPEN_BRACKET) {
    throw notAnArray('is not a JSON array. Send orders that stand one per line as application/x-ndjson');
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
      if (skipSpace(body, at + 1) < body.length) throw notAnArray('goes on after its JSON array');
      return;
    }
  }
  throw notAnArray('ends before its JSON array does');
}

function element(body: Buffer, start: number, end: number): Buffer {
  const bytes = trimmed(body, start, end);
  if (bytes.length === 0) throw notAnArray('has a comma with nothing beside it in its JSON array');
  // Alone, an order may begin with a byte order mark; within JSON there is none.
  if (bytes[0] === 0xef) throw notAnArray('has a byte order mark within its JSON array');
  return bytes;
}

function tooLong(index: number, maxBytes: number): Problem {
  const detail = `Element ${index} of the array is over ${maxBytes} bytes, too long to look at.`;
  return new Problem('payload_too_large', { detail });
}

function notAnArray(what: string): Problem {
  return new Problem('malformed_body', { detail: `The body ${what}.` });
}

function afterMark(body: Buffer): number {
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

/** White space of JSON (RFC 8259, section 2). */
function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
