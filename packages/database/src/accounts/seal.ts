import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;

/**
 * Encrypts a signing secret for rest: nonce, tag, ciphertext of AES-256-GCM. The account's id is bound in, so that a row copied to
 * another account does not open.
 *
 * @param keys each 32 bytes.
 */
export function seal(keys: SecretsKeys, accountId: number, secret: string): Buffer {
  const nonce = randomBytes(NONCE_LENGTH);
  const cipher = createCipheriv(ALGORITHM, currentOf(keys), nonce).setAAD(Buffer.from(`account ${accountId}`));
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** The key that secrets are sealed with; while it is exchanged also another, which opens as well. The first one seals. */
export type SecretsKeys = Buffer | readonly [current: Buffer, previous: Buffer];

/**
 * Opens what `seal` made.
 *
 * @throws {Error} when the key is another one, or the bytes or the account are not those that were sealed.
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

/** Whether this is sealed with the key that seals now. */
export function isSealedAnew(keys: SecretsKeys, accountId: number, sealed: Buffer): boolean {
  return tryToUnseal(currentOf(keys), accountId, sealed) !== null;
}

/** As `unseal`; null when none of the keys opens it. */
export function tryToUnseal(keys: SecretsKeys, accountId: number, sealed: Buffer): string | null {
  try {
    return unseal(keys, accountId, sealed);
  } catch {
    return null;
  }
}

/**
 * Names the key that secrets are sealed with, so that processes can be compared: eight hex digits, which tell nothing of a key of
 * 32 random bytes.
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
