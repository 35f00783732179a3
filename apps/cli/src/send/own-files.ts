import { type BigIntStats, closeSync, openSync, readSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Failure, UsageError } from '../errors.ts';

/**
 * Ensures that no two paths are the same file, including by links: output would destroy input.
 *
 * @param files paths by their purpose; null if not used.
 * @throws {UsageError}
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
 * Ensures that an existing file was written by `orders send`, so that no other file is overwritten.
 *
 * @param isOwn whether the first line is one that `orders send` writes.
 * @returns whether the file exists and is not empty.
 * @throws {Failure} if the file is not regular or has other content.
 */
export async function requireOwnFile(path: string, what: string, isOwn: (line: string) => boolean): Promise<boolean> {
  const found = await statOf(path);
  if (!found) return false;
  if (!found.isFile()) throw new Failure(`${path} is not a regular file, which a ${what} must be.`);
  if (found.size === 0n) return false;
  const line = firstLineOf(path, Math.min(Number(found.size), MAX_LINE_BYTES));
  if (line === null || !isOwn(line))
    throw new Failure(`${path} is not a ${what} of orders send and was not changed: name another file.`);
  return true;
}

/** Device and inode, so that links are resolved; the real path if the file does not exist yet. */
async function identityOf(path: string): Promise<string> {
  const found = await statOf(path);
  if (found) return `${found.dev}:${found.ino}`;
  return join(await realpath(dirname(path)).catch(() => dirname(path)), basename(path));
}

async function statOf(path: string): Promise<BigIntStats | null> {
  return stat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new Failure(`${path} cannot be read (${error.code}).`);
  });
}

/** Max length of the first line: a rejected order may have a long id. */
const MAX_LINE_BYTES = 2 ** 25;

/** Null if the line does not end within `maxBytes`. */
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
