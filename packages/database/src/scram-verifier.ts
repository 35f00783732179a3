import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

// Postgres' own default.
const ITERATIONS = 4096;

/**
 * What Postgres keeps of a password (RFC 5803), so that the password itself is in no statement and so in no log of the server.
 *
 * @param password visible ASCII, which needs no normalization.
 */
export function scramVerifier(password: string, salt: Buffer = randomBytes(16)): string {
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const keyOf = (name: string) => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${keyOf('Server Key').toString('base64')}`;
}
