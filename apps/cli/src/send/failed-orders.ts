import { appendFileSync, closeSync, existsSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Contradiction } from '@orders/order-files/read-order.ts';
import { UsageError } from '../errors.ts';
import type { FollowedOrder } from './follow-up.ts';
import { openSpool, writing } from './spool.ts';

/** An order that needs attention, and why; without its content. */
export interface FailedOrder {
  /** Position of the order in the input, from 1. */
  position: number;
  line: number;
  source_order_id: string | null;
  receipt_id: string | null;
  /**
   * `differs`: the service has another content. `repeated`: an earlier order of the input has its id. `contradicts`: it was sent, and its rows
   * in the table contradict each other.
   */
  status: 'rejected' | 'dead' | 'differs' | 'repeated' | 'contradicts';
  code: string;
  detail: string;
  errors?: readonly { pointer: string; code: string; detail: string }[] | undefined;
  /** Pointers to the differences from the service's order. */
  changed?: readonly string[];
  /** Position of the first order of the input with the same source_order_id. */
  repeats?: number;
  contradictions?: readonly Contradiction[];
}

const MAX_SHOWN_POINTERS = 5;

/** The failed orders of a run, in input order, with their text for the file of failures. */
export type FailedOrders = ReturnType<typeof createFailedOrders>;

/** @param path of the file of failures; null if there is none. */
export function createFailedOrders(path: string | null) {
  const spool = openSpool<{ failure: FailedOrder; text: string }>(path);
  // A map, as the service may send any code, such as `constructor`.
  const byCode = new Map<string, number>();
  /** `sendable`: those that the file of failures has. */
  const counts = { failed: 0, sendable: 0, rejected: 0, dead: 0, differs: 0, repeated: 0, contradicts: 0 };
  return {
    counts: counts as Readonly<typeof counts>,
    byCode: byCode as ReadonlyMap<string, number>,
    /** Adds an order if it failed. */
    add(order: FollowedOrder): void {
      const failure = failureOf(order);
      if (!failure) return;
      spool.add([{ failure, text: order.text }]);
      counts.failed += 1;
      if (order.text !== '') counts.sendable += 1;
      counts[failure.status] += 1;
      byCode.set(failure.code, (byCode.get(failure.code) ?? 0) + 1);
    },
    async *failures(): AsyncGenerator<FailedOrder> {
      for await (const { failure } of spool.read()) yield failure;
    },
    /** The orders as they were sent, which are not all: what is not one line of UTF-8 text has none. */
    async *texts(): AsyncGenerator<string> {
      for await (const { text } of spool.read()) if (text !== '') yield text;
    },
    close: spool.close,
  };
}

function failureOf(order: FollowedOrder): FailedOrder | null {
  const { position, line, sourceOrderId, receiptId = null, firstPosition, rejection, changed = [] } = order;
  const { contradictions = [] } = order;
  const reason = reasonOf(order);
  if (!reason) return null;
  return {
    position,
    line,
    source_order_id: sourceOrderId,
    receipt_id: receiptId,
    ...reason,
    ...(rejection?.errors && { errors: rejection.errors }),
    ...(changed.length > 0 && { changed }),
    ...(firstPosition !== null && { repeats: firstPosition }),
    ...(contradictions.length > 0 && { contradictions }),
  };
}

function reasonOf(order: FollowedOrder): Pick<FailedOrder, 'status' | 'code' | 'detail'> | null {
  const { status, error, rejection, changed = [], firstPosition } = order;
  if (rejection) return { status: 'rejected', code: rejection.code, detail: rejection.detail };
  if (status === 'dead') return { status, code: 'dead', detail: 'It could not be written.', ...error };
  if (changed.length > 0) {
    const more = changed.length - MAX_SHOWN_POINTERS;
    const pointers = `${changed.slice(0, MAX_SHOWN_POINTERS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
    const detail = `The account had this order before, with other content, and that is unchanged. They differ at ${pointers}.`;
    return { status: 'differs', code: 'duplicate_differs', detail };
  }
  if (firstPosition !== null) {
    const detail = `Order ${firstPosition} has this source_order_id, too. One id makes one order.`;
    return { status: 'repeated', code: 'repeated_id', detail };
  }
  return contradictionIn(order);
}

function contradictionIn({ contradictions = [] }: FollowedOrder): ReturnType<typeof reasonOf> {
  const [first] = contradictions;
  if (!first) return null;
  const { line, column } = first;
  const more = contradictions.length > 1 ? ` And ${contradictions.length - 1} more.` : '';
  const [code, detail] =
    column === null
      ? ['repeated_row', `Line ${line} is the same as the row above it, so its items are in the order once more.`]
      : ['contradicting_rows', `Line ${line} has another "${column}" than a row above it. The first one was taken.`];
  return { status: 'contradicts', code, detail: `${detail}${more}` };
}

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
  if (orders.counts.sendable === 0) return writing(path, () => rmSync(path, { force: true }));
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
