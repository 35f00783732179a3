import { randomUUID } from 'node:crypto';
import { appendFileSync, closeSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Failure } from '../errors.ts';
import { linesOf } from './read-json.ts';

const CHUNK_BYTES = 2 ** 18;

/**
 * A list of values in a temporary file. A run keeps there what it needs of each order until its outcome is known, so that of a file of
 * millions of orders only the requests in flight, and the ids that tell which order repeats another's, are in memory.
 */
export interface Spool<Value> {
  add(values: readonly Value[]): void;
  /** From the first one. */
  read(): AsyncGenerator<Value>;
  close(): void;
}

/**
 * The file has no name, so that nothing of an order is left behind, however the process ends.
 *
 * @param beside the file of failures, as directories for temporary files may be small or in memory; null if there is none.
 */
export function openSpool<Value>(beside: string | null): Spool<Value> {
  const directory = beside === null ? tmpdir() : dirname(beside);
  const path = join(directory, `.orders-send-${randomUUID()}`);
  const what = `A temporary file in ${directory}`;
  const file = writing(what, () => openSync(path, 'wx+', 0o600));
  rmSync(path);
  return {
    add(values) {
      const lines = values.map((value) => `${JSON.stringify(value)}\n`).join('');
      writing(what, () => appendFileSync(file, lines));
    },
    async *read() {
      for await (const line of linesOf(chunksOf(file), Number.POSITIVE_INFINITY)) yield JSON.parse(line.toString());
    },
    close: () => closeSync(file),
  };
}

/** Unlike a stream, it never closes the file, also if its reader stops early. */
async function* chunksOf(file: number): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    const length = readSync(file, chunk, 0, CHUNK_BYTES, position);
    if (length === 0) return;
    yield chunk.subarray(0, length);
    position += length;
  }
}

/** @throws {Failure} for a full disk or a read-only directory, in one line. */
export function writing<Result>(what: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    throw new Failure(`${what} cannot be written (${code ?? name}).`);
  }
}
