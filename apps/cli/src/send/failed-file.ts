import { appendFileSync, closeSync, existsSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { UsageError } from '../errors.ts';
import type { FailedOrders } from './failed-orders.ts';
import { writing } from './spool.ts';

/** Every file of failures has such a name, and only those are overwritten. */
const NAME = /\.failed(?:-(\d+))?\.ndjson$/;

/** How often the orders of a file failed before, by its name: 0 for a file that is not one of failures. */
export function roundOf(path: string): number {
  const found = NAME.exec(path);
  return found ? Number(found[1] ?? 1) : 0;
}

/** The file of the failures of an input, which is another one for those of a file of failures. */
export function failedPathOf(input: string): string {
  const round = roundOf(input);
  return round === 0 ? `${input}.failed.ndjson` : input.replace(NAME, `.failed-${round + 1}.ndjson`);
}

/**
 * Ensures that a run may write a file of failures.
 *
 * @param inputs paths by their purpose, which must be other files, also by links; null if not used.
 * @throws {UsageError}
 */
export async function requireFailedFile(path: string, inputs: Readonly<Record<string, string | null>>): Promise<void> {
  if (roundOf(path) === 0)
    throw new UsageError('--failed takes a name that ends in .failed.ndjson, as it is overwritten: name another file.');
  if (existsSync(path) && !statSync(path).isFile()) throw new UsageError(`${path} is not a regular file.`);
  for (const output of [path, temporaryPathOf(path)])
    for (const [role, input] of Object.entries(inputs))
      if (input !== null && (await identityOf(input)) === (await identityOf(output)))
        throw new UsageError(`${role} and the file of failures must be two files: ${output} is both.`);
}

/** Replaces the file of the run before, once the new one is complete; removes it if no order is to be sent again. */
export async function writeFailedFile(path: string, orders: FailedOrders): Promise<void> {
  if (orders.counts().sendable === 0) return writing(path, () => rmSync(path, { force: true }));
  const temporaryPath = temporaryPathOf(path);
  writing(temporaryPath, () => rmSync(temporaryPath, { force: true }));
  const file = writing(temporaryPath, () => openSync(temporaryPath, 'wx', 0o600));
  try {
    for await (const text of orders.texts()) writing(temporaryPath, () => appendFileSync(file, `${text}\n`));
    writing(path, () => renameSync(temporaryPath, path));
  } finally {
    closeSync(file);
    rmSync(temporaryPath, { force: true });
  }
}

function temporaryPathOf(path: string): string {
  return `${path}.new`;
}

/** Device and inode, so that links are resolved; the real path if the file does not exist yet. */
async function identityOf(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  if (found) return `${found.dev}:${found.ino}`;
  return join(await realpath(dirname(path)).catch(() => dirname(path)), basename(path));
}
