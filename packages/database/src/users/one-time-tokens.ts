import { createHash, randomBytes } from 'node:crypto';

/** A token of a one-time link: 256 random bits. */
export function createToken(): string {
  return randomBytes(32).toString('base64url');
}

/** What is stored of a token. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
