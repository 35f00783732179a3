import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { pipeline } from 'node:stream';
import { pipeline as finished } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { Failure } from '../errors.ts';

/** What a file contains: lines of JSON, each with an order. */
export interface Digest {
  orders: number;
  /** Of the lines, without compression, in hexadecimal. */
  sha256: string;
}

/**
 * Writes lines to a gzip file of the owner alone, and reads it back from the disk. Until that has succeeded it has another name, so a file
 * with this name is whole, also after an interruption.
 *
 * @throws {Failure} if the file cannot be written or read, such as on a full disk, or if it exists with other content. Then no other file
 * is left, and an existing one is unchanged.
 */
export async function writeArchive(path: string, lines: AsyncIterable<string>): Promise<Digest> {
  const partial = `${path}.partial`;
  try {
    const written = await compress(partial, lines);
    if (!isSame(await digestOf(partial), written))
      throw new Failure(`${basename(path)} was read back with other content.`);
    const existing = await digestOf(path).catch(nullIfMissing);
    if (existing && !isSame(existing, written))
      throw new Failure(`${basename(path)} exists with other content; move it away, and run the command again.`);
    if (!existing) await rename(partial, path);
    await sync(dirname(path));
    return written;
  } catch (error) {
    throw error instanceof Failure ? error : asFailure(error, path);
  } finally {
    await rm(partial, { force: true });
  }
}

async function compress(path: string, lines: AsyncIterable<string>): Promise<Digest> {
  const { text, digest } = digested(lines);
  await finished(text, createGzip(), createWriteStream(path, { mode: 0o600, flush: true }));
  return digest();
}

/** @throws if it does not exist or is damaged. */
async function digestOf(path: string): Promise<Digest> {
  const { text, digest } = digested(readArchive(path));
  for await (const _ of text);
  return digest();
}

/** The text of lines, and its digest once all of it was read. */
function digested(lines: AsyncIterable<string>): { text: AsyncIterable<string>; digest: () => Digest } {
  const hash = createHash('sha256');
  let orders = 0;
  async function* read() {
    for await (const line of lines) {
      const text = `${line}\n`;
      hash.update(text);
      orders += 1;
      yield text;
    }
  }
  return { text: read(), digest: () => ({ orders, sha256: hash.digest('hex') }) };
}

/** The lines of an archive. @throws if it does not exist or is damaged. */
export async function* readArchive(path: string): AsyncGenerator<string> {
  const text = createGunzip().setEncoding('utf8');
  // An error of the file reaches the loop through `text`.
  pipeline(createReadStream(path), text, () => {});
  let rest = '';
  for await (const chunk of text) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() as string;
    yield* lines;
  }
}

function isSame(a: Digest, b: Digest): boolean {
  return a.orders === b.orders && a.sha256 === b.sha256;
}

/** So that the name of the file outlives a loss of power. */
async function sync(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  await handle.sync().finally(() => handle.close());
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code !== 'ENOENT') throw error;
  return null;
}

/** Errors of files have a path; those of Postgres are told by others. */
function asFailure(error: unknown, path: string): unknown {
  const { code, errno } = error as NodeJS.ErrnoException;
  const isOfFile = typeof errno === 'number' || /^Z_/.test(code ?? '');
  return isOfFile ? new Failure(`${basename(path)} cannot be written and read back (${code}).`) : error;
}
