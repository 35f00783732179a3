import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

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
