import { type BigIntStats, createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Schema } from 'joi';
import { Failure, UsageError } from '../errors.ts';
import { linesOf } from './read-ndjson.ts';

/** Max length of the first line: a rejected order may have a long id. */
const MAX_LINE_BYTES = 2 ** 25;

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
 * @param schema of the first line.
 * @returns whether the file exists and is not empty.
 * @throws {Failure} if the file is not regular or has other content.
 */
export async function requireOwnFile(path: string, what: string, schema: Schema): Promise<boolean> {
  const found = await statOf(path);
  if (!found) return false;
  if (!found.isFile()) throw new Failure(`${path} is not a regular file, which a ${what} must be.`);
  if (found.size === 0n) return false;
  const line = await firstLineOf(path);
  // A complete line ends before the end of the file.
  if (!line || line.length >= found.size || !readLine(line.toString(), schema))
    throw new Failure(`${path} is not a ${what} of orders send and was not changed: name another file.`);
  return true;
}

/** The JSON of a line; undefined if it is not JSON, null if it does not match the schema. */
export function readLine<Value>(line: string, schema: Schema): Value | null | undefined {
  try {
    const { error, value } = schema.validate(JSON.parse(line), { convert: false });
    return error ? null : value;
  } catch {
    return undefined;
  }
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
    throw unreadable(path, error);
  });
}

/** Null if the line is too long. */
async function firstLineOf(path: string): Promise<Buffer | null> {
  try {
    for await (const line of linesOf(createReadStream(path), MAX_LINE_BYTES)) return line;
  } catch (error) {
    if (!(error instanceof Failure)) throw unreadable(path, error as NodeJS.ErrnoException);
  }
  return null;
}

function unreadable(path: string, { code }: NodeJS.ErrnoException): Failure {
  return new Failure(`${path} cannot be read (${code}).`);
}

/** A full disk or a read-only directory, in one line. */
export function unwritable(what: string, error: unknown): Failure {
  const { code, name } = error as NodeJS.ErrnoException;
  return new Failure(`${what} cannot be written (${code ?? name}).`);
}

/** @throws {Failure} `unwritable`, for any error. */
export function writing<Result>(what: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw unwritable(what, error);
  }
}
