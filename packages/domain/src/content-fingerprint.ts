import { hash } from 'node:crypto';
import { canonicalJson, type Rule } from './canonical-json.ts';
import { decodeBody, parseBody } from './parse-body.ts';

const DECIMAL: Rule = { isDecimal: true };

/** Members that normalization reads alike as string and number. Phones and ids are not among them: `0501` is not `501`. */
const ORDER: Rule = { of: { total: DECIMAL, items: { of: { '*': { of: { quantity: DECIMAL } } } } } };

/**
 * Two bodies of an order have equal fingerprints if and only if their content is equal. The order of members, white space, escapes, a byte
 * order mark and the spelling of numbers do not matter, nor whether a total or quantity is a number or a plain string: `49`, `49.0` and
 * `"49.00"` are equal.
 *
 * @returns a SHA-256 in hexadecimal.
 * @throws {Problem} `malformed_body` as `parseBody` does.
 */
export function contentFingerprint(body: Buffer): string {
  parseBody(body);
  return hash('sha256', canonicalJson(decodeBody(body), ORDER), 'hex');
}
