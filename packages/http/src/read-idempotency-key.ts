import type { IncomingMessage } from 'node:http';
import { Problem } from '@orders/domain';

const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * The `Idempotency-Key` header, or null if there is none: 1 to 255 visible ASCII characters, compared exactly (contract, section 2).
 *
 * @throws {Problem} `invalid_idempotency_key`.
 */
export function readIdempotencyKey({ headers }: Pick<IncomingMessage, 'headers'>): string | null {
  const key = headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || !KEY.test(key)) throw new Problem('invalid_idempotency_key');
  return key;
}
