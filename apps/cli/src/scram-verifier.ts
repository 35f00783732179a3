import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

// Postgres' default.
const ITERATIONS = 4096;

/**
 * The SCRAM verifier that Postgres stores (RFC 5803), so that the password is in no statement and no server log.
 *
 * @param password visible ASCII, which needs no normalization.
 */
export function scramVerifier(password: string, salt: Buffer = randomBytes(16)): string {
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const keyOf = (name: string) => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${keyOf('Server Key').toString('base64')}`;
}
