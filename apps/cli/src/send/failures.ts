import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Failure, WrongUse } from '../errors.ts';
import type { Outcome } from './follow-up.ts';
import type { Result } from './journal.ts';

/** An order that did not get through, and why; nothing of what it says. */
export interface FailedOrder {
  line: number;
  source_order_id: string | null;
  receipt_id: string | null;
  status: 'refused' | 'dead' | 'unknown';
  code: string;
  detail: string;
  errors?: readonly { pointer: string; code: string; detail: string }[];
}

/** Where failures are written down, one JSON object a line; in place of what was there only once it is whole. */
export interface FailureFile {
  add(failure: FailedOrder): void;
  finish(): void;
}

const NOT_KNOWN = {
  code: 'receipt_not_found',
  detail: 'What became of it is not known; sending it again does no harm.',
};

/** Null for one that was accepted. */
export function refusalOf([line, sourceOrderId, outcome]: Result): FailedOrder | null {
  if (typeof outcome === 'string') return null;
  const { code, detail, errors } = outcome;
  return {
    line,
    source_order_id: sourceOrderId,
    receipt_id: null,
    status: 'refused',
    code,
    detail,
    ...(errors && { errors }),
  };
}

/** Null for one that got through, or still may. */
export function failureOf({ line, sourceOrderId, receiptId, status, error }: Outcome): FailedOrder | null {
  if (status !== 'dead' && status !== 'unknown') return null;
  const { code, detail } = error ?? NOT_KNOWN;
  return { line, source_order_id: sourceOrderId, receipt_id: receiptId, status, code, detail };
}

/** @param path where there is none, failures are only counted. */
export function openFailureFile(path: string | null): FailureFile {
  if (path === null) return { add: () => {}, finish: () => {} };
  const beside = `${path}.new`;
  let file: number | null = null;
  return {
    add(failure) {
      file ??= open(beside);
      writeSync(file, `${JSON.stringify(failure)}\n`);
    },
    finish() {
      if (file === null) return rmSync(path, { force: true });
      closeSync(file);
      renameSync(beside, path);
    },
  };
}

/** The lines of the input that an earlier run wrote down as failed. */
export async function readFailedLines(path: string): Promise<Set<number>> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Failure(`${path} cannot be read (${error.code}): no failures were written down there.`);
  });
  try {
    return new Set(text.split('\n').flatMap((line) => (line === '' ? [] : lineOf(JSON.parse(line)))));
  } catch {
    throw new WrongUse('--only-failed takes the file of failures that an earlier orders send wrote.');
  }
}

function lineOf({ line }: Partial<FailedOrder>): number {
  if (!Number.isInteger(line)) throw new Error('no line');
  return line as number;
}

function open(path: string): number {
  try {
    return openSync(path, 'w', 0o600);
  } catch (error) {
    throw new Failure(`${path} cannot be written (${(error as NodeJS.ErrnoException).code}).`);
  }
}
