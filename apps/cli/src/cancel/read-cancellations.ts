import type { Cancellation } from '@orders/client';
import { readCancellations as validate } from '@orders/domain/cancellations.ts';
import { Problem } from '@orders/domain/problems.ts';
import { Failure, UsageError } from '../errors.ts';
import { nameOfInput, readFileOrStdin } from '../read-json-file.ts';

/** What to cancel, as given by the arguments. */
interface Given {
  ids: readonly string[];
  /** A file with one id a line; `-` is standard input. */
  file?: string | undefined;
  reason?: string | undefined;
}

/**
 * Reads and checks all cancellations before the first is sent. Empty lines of the file are skipped.
 *
 * @throws {UsageError | Failure} for an invalid argument, or an unreadable or invalid file. No message repeats an id.
 */
export async function readCancellations(
  { ids, file, reason }: Given,
  stdin: AsyncIterable<Buffer>,
): Promise<Cancellation[]> {
  const wrongReason = errorOf({ source_order_id: 'any', reason });
  if (wrongReason !== null) throw new UsageError(`--${wrongReason}`);
  const cancellations = [...ids].map((id) => cancellationOf(id, reason));
  for (const [index, cancellation] of cancellations.entries()) {
    const wrong = errorOf(cancellation);
    if (wrong !== null) throw new UsageError(`Argument ${index + 1}: ${wrong}`);
  }
  if (file !== undefined) cancellations.push(...(await readLines(file, reason, stdin)));
  if (cancellations.length === 0) throw new UsageError('Give the source_order_id of an order, or --file with some.');
  return cancellations;
}

async function readLines(file: string, reason: string | undefined, stdin: AsyncIterable<Buffer>) {
  const name = nameOfInput(file);
  return textOf(await readFileOrStdin(file, stdin), name)
    .split(/\r?\n/)
    .flatMap((line, index) => {
      if (line.trim() === '') return [];
      const cancellation = cancellationOf(line, reason);
      const wrong = errorOf(cancellation);
      if (wrong !== null) throw new Failure(`${name}: line ${index + 1}: ${wrong}`);
      return [cancellation];
    });
}

/** Removes a byte order mark. */
function textOf(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Failure(`${name}: it is not UTF-8; save it as UTF-8.`);
  }
}

function cancellationOf(source_order_id: string, reason: string | undefined): Cancellation {
  return { source_order_id, ...(reason !== undefined && { reason }) };
}

/** The first broken rule, by the service's own check. */
function errorOf(cancellation: Cancellation): string | null {
  try {
    validate({ ...cancellation });
    return null;
  } catch (error) {
    if (error instanceof Problem) return error.errors?.[0]?.detail ?? error.detail;
    throw error;
  }
}
