import { randomBytes, randomUUID, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { type Connection, execute, run } from '../run.ts';
import { endSessions } from './sessions.ts';

/** The hash of a user's password in the authentication library's format, or null. */
export async function findPasswordHash(connection: Connection, userId: string): Promise<string | null> {
  return (await findCredential(connection, { userId }))?.passwordHash ?? null;
}

/** A user's password. */
export interface Credential {
  userId: string;
  /** Each new password has another id. */
  credentialId: string;
  passwordHash: string;
}

/** The password of the user with this id or e-mail address, or null. */
export async function findCredential(
  connection: Connection,
  user: { userId: string } | { email: string },
): Promise<Credential | null> {
  const [credential] = await run<Credential>(
    connection,
    `select c.user_id as "userId", c.id as "credentialId", c.password as "passwordHash"
     from user_credentials c join users u on u.id = c.user_id
     where c.provider_id = 'credential' and c.password is not null and ${'userId' in user ? 'u.id' : 'u.email'} = $1`,
    ['userId' in user ? user.userId : user.email.toLowerCase()],
  );
  return credential ?? null;
}

/**
 * Stores a stronger hash of the same password; sessions stay.
 *
 * @returns false, and changes nothing, if the password was changed meanwhile.
 */
export async function replacePasswordHash(
  connection: Connection,
  { credentialId, passwordHash: before }: Credential,
  passwordHash: string,
): Promise<boolean> {
  const replace = 'update user_credentials set password = $3, updated_at = now() where id = $1 and password = $2';
  return (await execute(connection, replace, [credentialId, before, passwordHash])) > 0;
}

/**
 * Sets a user's password, and ends all their sessions, challenges and links for a new password; bindings to identity providers stay. Must be called in a
 * transaction.
 */
export async function setPassword(connection: Connection, userId: string, passwordHash: string): Promise<void> {
  await endSessions(connection, userId);
  await execute(connection, 'delete from password_resets where user_id = $1', [userId]);
  await execute(connection, "delete from user_credentials where user_id = $1 and provider_id = 'credential'", [userId]);
  await execute(
    connection,
    `insert into user_credentials (id, user_id, provider_id, provider_account_id, password)
     values ($1, $2, 'credential', $2, $3)`,
    [randomUUID(), userId, passwordHash],
  );
}

const scryptAsync = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

interface Cost {
  /** log2 of N. */
  ln: number;
  r: number;
  p: number;
}

/** log2 of N by the OWASP Password Storage Cheat Sheet: N = 2^17, r = 8, p = 1, which takes 128 MiB and about 0.4 s of a CPU. */
export const SAFE_COST = 17;
const BLOCK_SIZE = 8;
const PARALLELISM = 1;
const SALT_BYTES = 16;
const KEY_BYTES = 32;

/** The PHC string format, with unpadded base64. */
const HASH = /^\$scrypt\$ln=(\d\d?),r=(\d\d?),p=(\d)\$([\w+/]{22})\$([\w+/]{43})$/;

/**
 * @param ln log2 of N.
 * @returns a hash that states its parameters: `$scrypt$ln=17,r=8,p=1$salt$key`.
 */
export async function hashPassword(password: string, ln = SAFE_COST): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await deriveKey(password, salt, KEY_BYTES, costOf(ln));
  return `$scrypt$ln=${ln},r=${BLOCK_SIZE},p=${PARALLELISM}$${base64WithoutPadding(salt)}$${base64WithoutPadding(key)}`;
}

/**
 * Whether a password has this hash; hashes with older parameters work too.
 *
 * @param ln log2 of N of new hashes.
 * @throws {Error} if the hash has another form.
 */
export async function verifyPassword(hash: string, password: string, ln = SAFE_COST): Promise<boolean> {
  const { salt, key, cost } = parseHash(hash);
  const actual = await deriveKey(password, salt, key.length, cost);
  if (timingSafeEqual(actual, key)) return true;
  // A failure must not be faster than for an unknown address.
  if (needsRehash(hash, ln)) await deriveKey(password, salt, KEY_BYTES, costOf(ln));
  return false;
}

/** Whether a hash is cheaper to guess than new hashes. */
export function needsRehash(hash: string, ln = SAFE_COST): boolean {
  return parseHash(hash).cost.ln < ln;
}

/** @throws {Error} if the hash has another form. */
function parseHash(hash: string): { salt: Buffer; key: Buffer; cost: Cost } {
  const [, ln, r, p, salt, key] = HASH.exec(hash) ?? [];
  if (salt === undefined || key === undefined) throw new Error('a password hash of an unknown form');
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) };
  return { salt: Buffer.from(salt, 'base64'), key: Buffer.from(key, 'base64'), cost };
}

function costOf(ln: number): Cost {
  return { ln, r: BLOCK_SIZE, p: PARALLELISM };
}

/** Equal characters that are encoded differently give the same key (NIST SP 800-63B-4, section 3.1.1.2). */
function deriveKey(password: string, salt: Buffer, length: number, { ln, r, p }: Cost): Promise<Buffer> {
  const N = 2 ** ln;
  return scryptAsync(password.normalize('NFKC'), salt, length, { N, r, p, maxmem: 2 * 128 * N * r });
}

function base64WithoutPadding(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
