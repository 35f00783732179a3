import { appendFileSync, closeSync, openSync, renameSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import Joi from 'joi';
import { Failure, UsageError } from '../errors.ts';
import type { Outcome } from './follow-up.ts';
import { MISMATCH, type Result } from './journal-entries.ts';
import { readLine, requireOwnFile, writing } from './own-files.ts';

/** An order that the service does not have as in the input, and why; without its content. */
export interface FailedOrder {
  /** Position of the order in the input, from 1. */
  place: number;
  line: number;
  source_order_id: string | null;
  receipt_id: string | null;
  /** `duplicate` and `accepted`: it has a receipt, but differs from the service's order, or has the id of an earlier order of the input. */
  status: 'refused' | 'dead' | 'unknown' | 'duplicate' | 'accepted';
  code: string;
  detail: string;
  errors?: readonly { pointer: string; code: string; detail: string }[];
  /** Pointers to the differences from the service's order. */
  changed?: readonly string[];
  /** Position of the first order of the input with the same source_order_id. */
  repeats?: number;
}

/** A line of the file of failures, for a run with `--only-failed`. */
export interface StoredFailure extends FailedOrder {
  /** Number of orders in the input. */
  of: number;
}

const integer = Joi.number().integer().required();
const text = Joi.string().allow('').required();
/** A line of a dry run lacks `of`: the number of orders is not known before all are read. */
const LINE = Joi.object({
  place: integer,
  line: integer,
  receipt_id: text.allow(null),
  status: Joi.valid('refused', 'dead', 'unknown', 'duplicate', 'accepted').required(),
  code: text,
  detail: text,
}).unknown();
const FAILURE = LINE.append({ of: integer });

const MAX_SHOWN_POINTERS = 5;
const UNKNOWN = {
  code: 'receipt_not_found',
  detail: 'Its outcome is unknown; sending it again is safe.',
};

/** Null for an accepted order. */
export function failureOfRefused([place, line, sourceOrderId, outcome]: Result): FailedOrder | null {
  if (typeof outcome === 'string') return null;
  const { code, detail, errors } = outcome;
  const order = { place, line, source_order_id: sourceOrderId, receipt_id: null };
  return { ...order, status: 'refused', code, detail, ...(errors && { errors }) };
}

/**
 * Null for an order that the service has as in the input, or still may have.
 *
 * @param repeats position of the first order with the same source_order_id, unless this is the first.
 */
export function failureOfAccepted(outcome: Outcome, repeats: number | undefined): FailedOrder | null {
  const { status, error: _, changed, isMismatch: __, ...order } = outcome;
  const reason = failureReason(outcome, repeats);
  const isKnown = status === 'dead' || status === 'unknown' || status === 'duplicate';
  return (
    reason && { ...order, status: isKnown ? status : 'accepted', ...reason, ...(changed.length > 0 && { changed }) }
  );
}

function failureReason(outcome: Outcome, repeats: number | undefined): { code: string; detail: string } | null {
  const { status, error, changed, isMismatch, receipt_id: receiptId } = outcome;
  if (status === 'dead' || status === 'unknown') return error ?? UNKNOWN;
  if (isMismatch) {
    const detail = `Its idempotency key was used before with other content. It is kept as receipt ${receiptId}.`;
    return { code: MISMATCH, detail: detail + differences(changed) };
  }
  if (changed.length > 0) {
    const detail = 'The account had this order before, with other content, and that is unchanged.';
    return { code: 'duplicate_differs', detail: detail + differences(changed) };
  }
  return repeats === undefined ? null : repeatedId(repeats);
}

/** The reason of an order with the source_order_id of an earlier one, by the position of that one. */
export function repeatedId(repeats: number): { code: string; detail: string } {
  return { code: 'repeated_id', detail: `Order ${repeats} has this source_order_id, too. One id makes one order.` };
}

function differences(pointers: readonly string[]): string {
  if (pointers.length === 0) return '';
  const more = pointers.length - MAX_SHOWN_POINTERS;
  return ` They differ at ${pointers.slice(0, MAX_SHOWN_POINTERS).join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}

/** The path of the file until it is complete. */
export function temporaryPathOf(path: string): string {
  return `${path}.new`;
}

/** The file of failures, one JSON object a line. Replaces the previous file only once it is complete. */
export type FailureFile = Awaited<ReturnType<typeof openFailureFile>>;

/**
 * Opens the file of failures.
 *
 * @param path null to only count failures.
 * @throws {Failure} if another kind of file exists there.
 */
export async function openFailureFile(path: string | null) {
  const temporaryPath = temporaryPathOf(path ?? '');
  if (path !== null) {
    await requireFailures(path);
    // Left behind by a run that was killed.
    if (await requireFailures(temporaryPath)) writing(temporaryPath, () => rmSync(temporaryPath));
  }
  let file: number | null = null;
  const close = () => {
    if (file === null) return false;
    closeSync(file);
    file = null;
    return true;
  };
  return {
    add(failure: FailedOrder | StoredFailure): void {
      if (path === null) return;
      writing(temporaryPath, () => {
        file ??= openSync(temporaryPath, 'a', 0o600);
        appendFileSync(file, `${JSON.stringify(failure)}\n`);
      });
    },
    async finish(): Promise<void> {
      if (path === null) return;
      // Checked again, as another file may have been created meanwhile.
      const exists = await requireFailures(path);
      writing(path, () => {
        if (close()) renameSync(temporaryPath, path);
        else if (exists) rmSync(path);
      });
    },
    /** Keeps the previous file. */
    discard(): void {
      if (close()) rmSync(temporaryPath);
    },
  };
}

/** Reads the failures of an earlier run, by position. */
export async function readFailures(path: string): Promise<Map<number, StoredFailure>> {
  const content = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Failure(`${path} cannot be read (${error.code}): it contains no failures of an earlier run.`);
  });
  const lines = content.split('\n').filter((line) => line !== '');
  return new Map(
    lines.map((line) => {
      const failure = readLine<StoredFailure>(line, FAILURE);
      if (!failure)
        throw new UsageError(`${path} is not a file of failures that an earlier orders send wrote without --dry-run.`);
      return [failure.place, failure];
    }),
  );
}

function requireFailures(path: string): Promise<boolean> {
  return requireOwnFile(path, 'file of failures', LINE);
}
