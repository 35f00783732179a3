import { createHmac, timingSafeEqual } from 'node:crypto';
import { unseal } from '@orders/database';
import { Problem } from '@orders/domain';
import type { RequestHandler } from 'express';
import { holderOf } from './context.ts';

const SIGNATURE = /^(?:sha256=)?([0-9a-f]{64})$/i;

/**
 * Checks `x-service-signature` over the exact bytes received, against every secret that verifies now (two during a rotation), in
 * constant time.
 *
 * @param secretsKey opens the account's signing secrets; 32 bytes.
 * @throws {Problem} `signing_unavailable`, `missing_signature` or `invalid_signature`.
 */
export function verifySignature(secretsKey: Buffer): RequestHandler {
  return (request, _response, next) => {
    const { accountId, sealedSecrets } = holderOf(request);
    if (sealedSecrets.length === 0) throw new Problem('signing_unavailable');
    const header = request.get('x-service-signature');
    if (header === undefined) throw new Problem('missing_signature');
    const hex = SIGNATURE.exec(header)?.[1];
    if (!hex) throw new Problem('invalid_signature');
    const claimed = Buffer.from(hex, 'hex');
    const matches = sealedSecrets.filter((sealed) => {
      const expected = createHmac('sha256', unseal(secretsKey, accountId, sealed))
        .update(request.body)
        .digest();
      return timingSafeEqual(expected, claimed);
    });
    if (matches.length === 0) throw new Problem('invalid_signature');
    next();
  };
}
