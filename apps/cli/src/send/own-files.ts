import { type BigIntStats, closeSync, openSync, readSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Failure, UsageError } from '../errors.ts';

/**
 * Refuses one file in two parts, by whatever names: what is written would destroy what is read.
 *
 * @param files what each is for, and its path; null where there is none.
 * @throws {WrongUse}
 */
export async function requireDistinctFiles(files: Readonly<Record<string, string | null>>): Promise<void> {
  const seen = new Map<string, string>();
  for (const [role, path] of Object.entries(files)) {
    if (path === null) continue;
    const identity = await identityOf(path);
    const other = seen.get(identity);
    if (other) throw new UsageError(`${other} and ${role} must be two files: ${path} is both.`);
    seen.set(identity, role);
  }
}

/**
 * Refuses to touch what somebody else wrote.
 *
 * @param isOurs whether only `orders send` begins a file with this line.
 * @returns whether there is anything in it.
 * @throws {Failure} when it is there, and is no regular file, or holds something else.
 */
export async function requireOwnFile(path: string, what: string, isOwn: (line: string) => boolean): Promise<boolean> {
  const found = await statOf(path);
  if (!found) return false;
  if (!found.isFile()) throw new Failure(`${path} is not a regular file, which a ${what} must be.`);
  if (found.size === 0n) return false;
  const line = firstLineOf(path, Math.min(Number(found.size), MAX_LINE_BYTES));
  if (line === null || !isOwn(line))
    throw new Failure(`${path} is not a ${what} of orders send, and is left as it is: name another file.`);
  return true;
}

/** By its place on the disk, so that no link leads astray; what is not there yet by where it will be. */
async function identityOf(path: string): Promise<string> {
  const found = await statOf(path);
  if (found) return `${found.dev}:${found.ino}`;
  return join(await realpath(dirname(path)).catch(() => dirname(path)), basename(path));
}

async function statOf(path: string): Promise<BigIntStats | null> {
  return stat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new Failure(`${path} cannot be looked at (${error.code}).`);
  });
}

/** Of a line: an order that is refused may have a long id. */
const MAX_LINE_BYTES = 2 ** 25;

/** Null where it does not end within reason. */
function firstLineOf(path: string, maxBytes: number): string | null {
  let file = -1;
  try {
    file = openSync(path, 'r');
    const bytes = Buffer.alloc(maxBytes);
    const read = readSync(file, bytes, 0, maxBytes, 0);
    const end = bytes.subarray(0, read).indexOf(0x0a);
    return end < 0 ? null : bytes.toString('utf8', 0, end);
  } catch (error) {
    throw new Failure(`${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  } finally {
    if (file >= 0) closeSync(file);
  }
}
