import Joi from 'joi';
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

/** A line below the head. */
export type Entry = ({ batch: number } & StartedBatch) | { batch: number; results: Result[] };

/** The `journal` of a head: what kind of file it is. */
export const KIND = 'orders send 2';

const string = Joi.string().allow('');
const text = string.required();
const count = Joi.number().integer().min(0).required();
export const HEAD = Joi.object({
  journal: Joi.valid(KIND).required(),
  size: count.allow(null),
  url: text,
  way: Joi.valid('batches', 'webhook').required(),
  strict: Joi.boolean().required(),
}).unknown();
const ERROR = Joi.object({ pointer: text, code: text, detail: text }).unknown();
const REFUSAL = Joi.object({ status: count, code: text, detail: text, errors: Joi.array().items(ERROR) }).unknown();
const OUTCOME = Joi.alternatives(string, REFUSAL).required();
const RESULT = Joi.array().ordered(count, count, text.allow(null), OUTCOME, Joi.valid(MISMATCH));
export const ENTRY = Joi.alternatives(
  Joi.object({ batch: count, results: Joi.array().items(RESULT).required() }).unknown(),
  Joi.object({
    batch: count,
    orders: count.min(1),
    key: text,
    replaces: Joi.array().items(string).required(),
    results: Joi.forbidden(),
  }).unknown(),
);
