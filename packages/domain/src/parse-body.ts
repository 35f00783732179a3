import { isUtf8 } from 'node:buffer';
import { isDeeperThan } from './measure-depth.ts';
import { Problem } from './problems.ts';

/** Bytes of a body from which on parsing it may take milliseconds: JSON made to be slow takes 2 ms for these, 20 to 60 ms for 256 KiB. */
export const LONG_BODY_BYTES = 16_384;

/** The top-level object is level 1. */
const MAX_DEPTH = 64;
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Reads the raw body of an order as one JSON object. One leading byte order mark is skipped; of duplicate members the
 * last counts; a member `__proto__` is an ordinary own member. Throws `malformed_body`, saying what is wrong without
 * repeating any of it.
 */
export function parseBody(body: Buffer): Record<string, unknown> {
  if (!isUtf8(body)) throw malformed('The body is not UTF-8.');
  if (isDeeperThan(MAX_DEPTH, body)) throw malformed(`The body is nested deeper than ${MAX_DEPTH} levels.`);
  const value = parseJson(decodeBody(body));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed('The body is JSON, but not one JSON object.');
  }
  return value as Record<string, unknown>;
}

/** The text of a body without its byte order mark, if it has one. */
export function decodeBody(body: Buffer): string {
  const decoded = body.toString('utf8');
  return decoded.startsWith(BYTE_ORDER_MARK) ? decoded.slice(1) : decoded;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (text.trim() === '') throw malformed('The body is empty.');
    throw malformed(`The body is not JSON${place(error as Error)}.`);
  }
}

/** V8's message may quote the body, so only the numbers at its very end are taken over. */
function place(error: Error): string {
  const [, line, column] = / \(line (\d+) column (\d+)\)$/.exec(error.message) ?? [];
  return line ? `: see line ${line}, column ${column}` : '';
}

function malformed(detail: string): Problem {
  return new Problem('malformed_body', { detail });
}
