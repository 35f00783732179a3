import { hash } from 'node:crypto';
import { canonicalJson, type Rule } from './canonical-json.ts';
import { decodeBody, parseBody } from './parse-body.ts';

const DECIMAL: Rule = { isDecimal: true };

/** Where senders write numbers as strings and normalization reads both alike. A phone or an id is not such a place: `0501` is not `501`. */
const ORDER: Rule = { of: { total: DECIMAL, items: { of: { '*': { of: { quantity: DECIMAL } } } } } };

/**
 * Tells whether two bodies of an order have the same content: then, and only then, their fingerprints are equal. The order of members, white
 * space, escapes, a byte order mark and the spelling of a number do not matter, nor whether a total or a quantity is a number or a
 * string that spells it plainly: `49`, `49.0` and `"49.00"`.
 *
 * @returns a SHA-256 in hexadecimal.
 * @throws {Problem} `malformed_body` as `parseBody` does.
 */
export function contentFingerprint(body: Buffer): string {
  parseBody(body);
  return hash('sha256', canonicalJson(decodeBody(body), ORDER), 'hex');
}
