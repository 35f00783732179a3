import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;

/** An account, or a request of a user to the portal. */
export type SealOwner = number | `request ${string}`;

/**
 * Encrypts a secret at rest: nonce, tag and ciphertext of AES-256-GCM. Its owner is authenticated data, so a row that is copied to another
 * owner cannot be decrypted.
 *
 * @param keys each 32 bytes.
 */
export function seal(keys: SecretsKeys, owner: SealOwner, secret: string): Buffer {
  const nonce = randomBytes(NONCE_LENGTH);
  const cipher = createCipheriv(ALGORITHM, currentOf(keys), nonce).setAAD(authenticatedData(owner));
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** The key that encrypts; during a key rotation also the previous key, which only decrypts. */
export type SecretsKeys = Buffer | readonly [current: Buffer, previous: Buffer];

/**
 * Decrypts a result of `seal`.
 *
 * @throws {Error} when the key, the bytes or the owner are not those that were used for sealing.
 */
export function unseal(keys: SecretsKeys, owner: SealOwner, sealed: Buffer): string {
  if (Buffer.isBuffer(keys)) return open(keys, owner, sealed);
  const [current, previous] = keys;
  try {
    return open(current, owner, sealed);
  } catch {
    return open(previous, owner, sealed);
  }
}

export function isSealedWithCurrentKey(keys: SecretsKeys, accountId: number, sealed: Buffer): boolean {
  return tryToUnseal(currentOf(keys), accountId, sealed) !== null;
}

/** As `unseal`, but null when no key decrypts it. */
export function tryToUnseal(keys: SecretsKeys, owner: SealOwner, sealed: Buffer): string | null {
  try {
    return unseal(keys, owner, sealed);
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

function authenticatedData(owner: SealOwner): Buffer {
  return Buffer.from(typeof owner === 'number' ? `account ${owner}` : owner);
}

function open(key: Buffer, owner: SealOwner, sealed: Buffer): string {
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_LENGTH), { authTagLength: TAG_LENGTH })
    .setAAD(authenticatedData(owner))
    .setAuthTag(sealed.subarray(NONCE_LENGTH, NONCE_LENGTH + TAG_LENGTH));
  return decipher.update(sealed.subarray(NONCE_LENGTH + TAG_LENGTH), undefined, 'utf8') + decipher.final('utf8');
}
