import { decodeBody, parseBody } from '../parse-body.ts';

/** Finds values that may be long numbers. A text without a match has only numbers that JavaScript holds exactly. */
const MAYBE_INEXACT = /[:[,]\s*-?(?:[\d.]{16}|[\d.]+[eE])/;
/** Of a JSON text: its strings, which are skipped, and its numbers that are long or have an exponent. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d(?:[\d.]{15,}(?:[eE][+-]?\d+)?|[\d.]*[eE][+-]?\d+)/g;
/** Every decimal number of this many digits is exact. */
const EXACT_DIGITS = 15;

/**
 * Parses the body of a delivery like `parseBody`, but numbers that would lose digits, or are too large, become strings as written.
 * Platforms use long numbers as ids.
 *
 * @throws {Problem} `malformed_body`.
 */
export function parseDelivery(body: Buffer): Record<string, unknown> {
  const document = parseBody(body);
  const text = decodeBody(body);
  // A reviver of JSON.parse would be simpler, but takes 100 times as long for a list of numbers.
  return MAYBE_INEXACT.test(text) ? JSON.parse(text.replace(STRING_OR_NUMBER, quoteInexact)) : document;
}

function quoteInexact(token: string): string {
  if (token.startsWith('"')) return token;
  const [mantissa = ''] = token.split(/[eE]/);
  const isExact = Number.isFinite(Number(token)) && mantissa.replace(/\D/g, '').length <= EXACT_DIGITS;
  return isExact ? token : `"${token}"`;
}
