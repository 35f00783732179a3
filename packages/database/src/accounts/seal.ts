import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;

/**
 * Encrypts a signing secret at rest: nonce, tag and ciphertext of AES-256-GCM. The account id is authenticated data, so a row that is
 * copied to another account cannot be decrypted.
 *
 * @param keys each 32 bytes.
 */
export function seal(keys: SecretsKeys, accountId: number, secret: string): Buffer {
  const nonce = randomBytes(NONCE_LENGTH);
  const cipher = createCipheriv(ALGORITHM, currentOf(keys), nonce).setAAD(Buffer.from(`account ${accountId}`));
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** The key that encrypts; during a key rotation also the previous key, which only decrypts. */
export type SecretsKeys = Buffer | readonly [current: Buffer, previous: Buffer];

/**
 * Decrypts a result of `seal`.
 *
 * @throws {Error} when the key, the bytes or the account are not those that were used for sealing.
 */
export function unseal(keys: SecretsKeys, accountId: number, sealed: Buffer): string {
  if (Buffer.isBuffer(keys)) return open(keys, accountId, sealed);
  const [current, previous] = keys;
  try {
    return open(current, accountId, sealed);
  } catch {
    return open(previous, accountId, sealed);
  }
}

export function isSealedWithCurrentKey(keys: SecretsKeys, accountId: number, sealed: Buffer): boolean {
  return tryToUnseal(currentOf(keys), accountId, sealed) !== null;
}

/** As `unseal`, but null when no key decrypts it. */
export function tryToUnseal(keys: SecretsKeys, accountId: number, sealed: Buffer): string | null {
  try {
    return unseal(keys, accountId, sealed);
  } catch {
    return null;
  }
}

/**
 * Fingerprint of the current key, to compare processes: eight hex digits, which reveal nothing about a key of 32 random bytes.
 */
export function fingerprintOf(keys: SecretsKeys): string {
  return createHmac('sha256', currentOf(keys)).update('orders: fingerprint').digest('hex').slice(0, 8);
}

function currentOf(keys: SecretsKeys): Buffer {
  return Buffer.isBuffer(keys) ? keys : keys[0];
}

function open(key: Buffer, accountId: number, sealed: Buffer): string {
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_LENGTH), { authTagLength: TAG_LENGTH })
    .setAAD(Buffer.from(`account ${accountId}`))
    .setAuthTag(sealed.subarray(NONCE_LENGTH, NONCE_LENGTH + TAG_LENGTH));
  return decipher.update(sealed.subarray(NONCE_LENGTH + TAG_LENGTH), undefined, 'utf8') + decipher.final('utf8');
}
