import type { Refusal } from './source-order.ts';

/**
 * The service's reply to one order: its position, its source_order_id, and its receipt id or why it has none. The last member is present
 * if the idempotency key was used before with other content; the receipt is then that of the mismatched content.
 */
export type Result = readonly [
  position: number,
  line: number,
  sourceOrderId: string | null,
  outcome: string | Refusal,
  mismatch?: typeof MISMATCH,
];
export const MISMATCH = 'payload_mismatch';

/** Whether the order has a receipt. */
export function isAccepted([, , , outcome]: Result): boolean {
  return typeof outcome === 'string';
}

/** The journal's input, service and way of sending, which must be the same in each run. */
export interface JournalHead {
  /** Size of the file in bytes; null for standard input. */
  size: number | null;
  url: string;
  way: 'batches' | 'webhook';
  strict: boolean;
}

/** A batch whose sending has started; its key also depends on the receipts that it replaces. */
export interface StartedBatch {
  orders: number;
  key: string;
  replaces: readonly string[];
}

export type Entry = ({ batch: number } & StartedBatch) | { batch: number; results: Result[] };

const KIND = 'orders send 2';

/** The first line of a journal. */
export function writeHead({ size, url, way, strict }: JournalHead): object {
  return { journal: KIND, size, url, way, strict };
}

/** Null if the line is not the head of a journal. */
export function readHead(line: string): JournalHead | null {
  const value = parse(line) as Partial<JournalHead & { journal: string }> | undefined;
  if (value?.journal !== KIND || !(value.size === null || isCount(value.size))) return null;
  if (typeof value.url !== 'string' || typeof value.strict !== 'boolean') return null;
  return value.way === 'batches' || value.way === 'webhook' ? (value as JournalHead) : null;
}

/** A line of a journal below its head: `torn` if it is not JSON, as after a power cut; null if it is not an entry. */
export function readEntry(line: string): Entry | 'torn' | null {
  const value = parse(line);
  if (value === undefined) return 'torn';
  const { batch, orders, key, replaces, results } = (value ?? {}) as Record<string, unknown>;
  if (!isCount(batch)) return null;
  if (results !== undefined) return isListOf(isResult, results) ? { batch, results } : null;
  if (!isCount(orders) || orders === 0 || !isString(key) || !isListOf(isString, replaces)) return null;
  return { batch, orders, key, replaces };
}

function isResult(value: unknown): value is Result {
  if (!Array.isArray(value) || value.length < 4 || value.length > 5) return false;
  const [position, line, id, outcome, mismatch = MISMATCH] = value;
  if (mismatch !== MISMATCH) return false;
  return (
    isCount(position) && isCount(line) && (id === null || isString(id)) && (isString(outcome) || isRefusal(outcome))
  );
}

function isRefusal(value: unknown): value is Refusal {
  const { status, code, detail, errors = [] } = (value ?? {}) as Partial<Refusal>;
  return isCount(status) && isString(code) && isString(detail) && isListOf(isFieldError, errors);
}

function isFieldError(value: unknown): value is { pointer: string; code: string; detail: string } {
  const { pointer, code, detail } = (value ?? {}) as Record<string, unknown>;
  return isString(pointer) && isString(code) && isString(detail);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function isListOf<T>(isItem: (value: unknown) => value is T, value: unknown): value is T[] {
  return Array.isArray(value) && value.every(isItem);
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
