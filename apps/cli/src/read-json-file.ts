import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { Problem } from '@orders/domain/problems.ts';
import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import { readMapping } from '@orders/domain/sources/read-mapping.ts';
import { Failure, UsageError } from './errors.ts';
import { escapeControls } from './sanitize.ts';

/** Reads the file of an argument; `-` is standard input. @throws {Failure} that names it. */
export async function readFileOrStdin(file: string, stdin: AsyncIterable<Buffer>): Promise<Buffer> {
  return (file === '-' ? buffer(stdin) : readFile(file)).catch((error: NodeJS.ErrnoException) => {
    throw new Failure(`${nameOfInput(file)} cannot be read (${error.code ?? error.name}).`);
  });
}

/** What messages call the file of an argument. */
export function nameOfInput(file: string): string {
  return file === '-' ? 'standard input' : file;
}

/** @throws {UsageError} that names the option. */
export async function readOptionFile(path: string, option: string): Promise<Buffer> {
  return readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`The file of ${option} cannot be read (${error.code}): ${path}.`);
  });
}

/** @throws {UsageError} that names the option. */
export async function readJsonFile(path: string, option: string): Promise<unknown> {
  const text = (await readOptionFile(path, option)).toString('utf8').replace(/^\uFEFF/, '');
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`The file of ${option} is not JSON: ${path}.`);
  }
}

/** Reads a mapping that was given with an option. @throws {UsageError} with all that is wrong, and where. */
export function readMappingOf(option: string, input: unknown): OrderMapping {
  return explained(option, () => readMapping(input));
}

/** Runs `read`. @throws {UsageError} in place of a Problem, with its errors and their pointers in one line. */
export function explained<Value>(option: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const errors = error.errors?.map(({ pointer, detail }) => `${escapeControls(pointer || 'the file')}: ${detail}`);
    throw new UsageError(`${option}: ${errors?.join(' ') ?? error.detail}`);
  }
}
