import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;

/**
 * Encrypts a signing secret for rest: nonce, tag, ciphertext of AES-256-GCM. The account's id is bound in, so that a row copied to
 * another account does not open.
 *
 * @param key 32 bytes, `SECRETS_KEY`.
 */
export function seal(key: Buffer, accountId: number, secret: string): Buffer {
  const nonce = randomBytes(NONCE_LENGTH);
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(`account ${accountId}`));
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/**
 * Opens what `seal` made.
 *
 * @throws {Error} when the key is another one, or the bytes or the account are not those that were sealed.
 */
export function unseal(key: Buffer, accountId: number, sealed: Buffer): string {
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_LENGTH), { authTagLength: TAG_LENGTH })
    .setAAD(Buffer.from(`account ${accountId}`))
    .setAuthTag(sealed.subarray(NONCE_LENGTH, NONCE_LENGTH + TAG_LENGTH));
  return decipher.update(sealed.subarray(NONCE_LENGTH + TAG_LENGTH), undefined, 'utf8') + decipher.final('utf8');
}
