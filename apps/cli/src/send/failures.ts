import { appendFileSync, closeSync, openSync, renameSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Failure, UsageError } from '../errors.ts';
import type { Outcome } from './follow-up.ts';
import { MISMATCH, type Result } from './journal-entries.ts';
import { requireOwnFile } from './own-files.ts';

/** An order that is not on the list as it stands in the input, and why; nothing of what it says. */
export interface FailedOrder {
  /** Among the orders of the input, from 1. */
  place: number;
  line: number;
  source_order_id: string | null;
  receipt_id: string | null;
  /** `duplicate` and `accepted`: it has a receipt, but differs from what the service has, or repeats an id of the input. */
  status: 'refused' | 'dead' | 'unknown' | 'duplicate' | 'accepted';
  code: string;
  detail: string;
  errors?: readonly { pointer: string; code: string; detail: string }[];
  /** What it says differently from the order that the service has, as pointers. */
  changed?: readonly string[];
  /** The place of the first order of the input with its source_order_id. */
  repeats?: number;
}

/** The same as it is written down, for a run with `--only-failed`. */
export interface StoredFailure extends FailedOrder {
  /** How many orders the input held. */
  of: number;
}

/** Where failures are written down, one JSON object a line; in place of what was there only once it is whole. */
export interface FailureFile {
  add(failure: StoredFailure): void;
  finish(): Promise<void>;
  /** Leaves what was there. */
  discard(): void;
}

const MAX_SHOWN_POINTERS = 5;
const UNKNOWN = {
  code: 'receipt_not_found',
  detail: 'What became of it is not known; sending it again does no harm.',
};

/** Null for one that was accepted. */
export function failureOfRefused([position, line, sourceOrderId, outcome]: Result): FailedOrder | null {
  if (typeof outcome === 'string') return null;
  const { code, detail, errors } = outcome;
  return {
    place: position,
    line,
    source_order_id: sourceOrderId,
    receipt_id: null,
    status: 'refused',
    code,
    detail,
    ...(errors && { errors }),
  };
}

/**
 * Null for one that is on the list as it stands in the input, or still may be.
 *
 * @param repeats the place of the first order with its source_order_id, where it is not the first.
 */
export function failureOfAccepted(outcome: Outcome, repeats: number | undefined): FailedOrder | null {
  const { position, line, sourceOrderId, receiptId, status, changed } = outcome;
  const reason = failureReason(outcome, repeats);
  if (!reason) return null;
  return {
    place: position,
    line,
    source_order_id: sourceOrderId,
    receipt_id: receiptId,
    status: status === 'dead' || status === 'unknown' || status === 'duplicate' ? status : 'accepted',
    ...reason,
    ...(changed.length > 0 && { changed }),
  };
}

function failureReason({ status, error, changed, isMismatch, receiptId }: Outcome, repeats: number | undefined) {
  if (status === 'dead' || status === 'unknown') return error ?? UNKNOWN;
  if (isMismatch) {
    const detail = `Its idempotency key was used before with other content. It is kept as receipt ${receiptId}.`;
    return { code: MISMATCH, detail: detail + differences(changed) };
  }
  if (changed.length > 0) {
    const detail = 'The account had this order before, with other content, and that is unchanged.';
    return { code: 'duplicate_differs', detail: detail + differences(changed) };
  }
  if (repeats === undefined) return null;
  return { code: 'repeated_id', detail: `Order ${repeats} has this source_order_id, too. One id makes one order.` };
}

function differences(pointers: readonly string[]): string {
  if (pointers.length === 0) return '';
  const more = pointers.length - MAX_SHOWN_POINTERS;
  return ` They differ at ${pointers.slice(0, MAX_SHOWN_POINTERS).join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}

/** Where they are written until they are whole. */
export function temporaryPathOf(path: string): string {
  return `${path}.new`;
}

/**
 * @param path where there is none, failures are only counted.
 * @throws {Failure} when there is anything that is no such file.
 */
export async function openFailureFile(path: string | null): Promise<FailureFile> {
  if (path === null) return { add: () => {}, finish: async () => {}, discard: () => {} };
  const temporaryPath = temporaryPathOf(path);
  await requireFailures(path);
  // A run that was killed leaves it.
  if (await requireFailures(temporaryPath)) orThrow(temporaryPath, () => rmSync(temporaryPath));
  let file: number | null = null;
  const close = () => {
    if (file === null) return false;
    closeSync(file);
    file = null;
    return true;
  };
  return {
    add(failure) {
      orThrow(temporaryPath, () => {
        file ??= openSync(temporaryPath, 'a', 0o600);
        appendFileSync(file, `${JSON.stringify(failure)}\n`);
      });
    },
    async finish() {
      // Once more, as somebody may have put something else there meanwhile.
      const exists = await requireFailures(path);
      orThrow(path, () => {
        if (close()) renameSync(temporaryPath, path);
        else if (exists) rmSync(path);
      });
    },
    discard() {
      if (close()) rmSync(temporaryPath);
    },
  };
}

/** What an earlier run wrote down as failed, by place. */
export async function readFailures(path: string): Promise<Map<number, StoredFailure>> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Failure(`${path} cannot be read (${error.code}): no failures were written down there.`);
  });
  const failures = text.split('\n').flatMap((line) => (line === '' ? [] : [readFailure(line)]));
  if (failures.includes(null))
    throw new UsageError(`${path} is not a file of failures that an earlier orders send wrote.`);
  return new Map((failures as StoredFailure[]).map((failure) => [failure.place, failure]));
}

function requireFailures(path: string): Promise<boolean> {
  return requireOwnFile(path, 'file of failures', (line) => readFailure(line) !== null);
}

const STATUSES: readonly unknown[] = [
  'refused',
  'dead',
  'unknown',
  'duplicate',
  'accepted',
] satisfies FailedOrder['status'][];

function readFailure(line: string): StoredFailure | null {
  try {
    const failure = JSON.parse(line) as Partial<StoredFailure> | null;
    const { place, of, line: at, receipt_id: receiptId, status, code, detail } = failure ?? {};
    if (![place, of, at].every(Number.isSafeInteger) || !STATUSES.includes(status)) return null;
    if (typeof code !== 'string' || typeof detail !== 'string') return null;
    return receiptId === null || typeof receiptId === 'string' ? (failure as StoredFailure) : null;
  } catch {
    return null;
  }
}

/** A full disk or a directory that takes no files is told in one line. */
function orThrow(path: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    throw new Failure(`${path} cannot be written (${(error as NodeJS.ErrnoException).code}).`);
  }
}
