import { createHmac, timingSafeEqual } from 'node:crypto';

const SIGNATURE = /^(?:sha256=)?([0-9a-f]{64})$/i;

/** The digest that an `x-service-signature` claims (contract, section 6); null where it is not written as one. */
export function claimedDigest(header: string): Buffer | null {
  const hex = SIGNATURE.exec(header)?.[1];
  return hex === undefined ? null : Buffer.from(hex, 'hex');
}

/** Whether this is the HMAC-SHA256 of exactly these bytes, in constant time. The key is the UTF-8 bytes of the secret as it is shown. */
export function isSignedWith(secret: string, body: Buffer, claimed: Buffer): boolean {
  return timingSafeEqual(createHmac('sha256', secret).update(body).digest(), claimed);
}
