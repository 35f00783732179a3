import { createHmac, timingSafeEqual } from 'node:crypto';

const SIGNATURE = /^(?:sha256=)?([0-9a-f]{64})$/i;

/** The digest in an `x-service-signature` (contract, section 6); null if it is malformed. */
export function claimedDigest(header: string): Buffer | null {
  const hex = SIGNATURE.exec(header)?.[1];
  return hex === undefined ? null : Buffer.from(hex, 'hex');
}

/** Verifies the HMAC-SHA256 of the body in constant time. The key is the UTF-8 bytes of the secret, prefix included. */
export function isSignedWith(secret: string, body: Buffer, claimed: Buffer): boolean {
  return timingSafeEqual(createHmac('sha256', secret).update(body).digest(), claimed);
}
