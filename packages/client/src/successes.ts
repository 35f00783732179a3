import { IdempotencyMismatchError, OrdersError } from './errors.ts';
import type {
  Accepted,
  BatchReply,
  CancelReply,
  CancelResult,
  EventPage,
  OrdersEvent,
  Preview,
  Receipt,
  ReconcileReply,
} from './types.ts';

type Json = Record<string, unknown>;

/**
 * Reads the JSON of a success reply; null if it is not from the service, such as a captive portal that also replies 200.
 *
 * @param requestId the id of the request in the service's log.
 */
export type ReadSuccess<Reply> = (body: Json, requestId: string) => Reply | null;

/** @throws {IdempotencyMismatchError} when the receipt belongs to an earlier delivery with other content. */
export function readAccepted(body: Json, requestId: string): Accepted | null {
  if (typeof body.receipt_id !== 'string') return null;
  const accepted = body as Accepted;
  if (accepted.payload_mismatch) throw new IdempotencyMismatchError(accepted, { requestId });
  return accepted;
}

/** @throws {OrdersError} unless there is one result for each order. */
export function readBatch(orders: number): ReadSuccess<BatchReply> {
  return (body, requestId) => {
    const { results } = body;
    if (!Array.isArray(results) || !results.every(isBatchResult)) return null;
    requireEach(results, orders, requestId);
    return body as BatchReply;
  };
}

export const readCancelled: ReadSuccess<CancelResult> = (body) =>
  isCancelResult(body) ? (body as CancelResult) : null;

/** @throws {OrdersError} unless there is one result for each order. */
export function readCancelledList(orders: number): ReadSuccess<CancelReply> {
  return (body, requestId) => {
    const { results } = body;
    if (!Array.isArray(results) || !results.every(isCancelResult)) return null;
    requireEach(results, orders, requestId);
    return body as CancelReply;
  };
}

export const readReceipt: ReadSuccess<Receipt> = (body) =>
  typeof body.receipt_id === 'string' && typeof body.status === 'string' ? (body as Receipt) : null;

export const readPreview: ReadSuccess<Preview> = (body) => (isObject(body.normalized) ? (body as Preview) : null);

export const readReconciled: ReadSuccess<ReconcileReply> = (body) => {
  const isResult = (one: unknown) =>
    isObject(one) && typeof one.source_order_id === 'string' && typeof one.status === 'string';
  return Array.isArray(body.results) && body.results.every(isResult) ? (body as ReconcileReply) : null;
};

export const readEventPage: ReadSuccess<EventPage> = (body) =>
  typeof body.next === 'string' && Array.isArray(body.events) && body.events.every(isEvent)
    ? (body as EventPage)
    : null;

/** Whether a value has the members that every event has. */
export function isEvent(value: unknown): value is OrdersEvent {
  if (!isObject(value) || !isObject(value.data)) return false;
  return [value.id, value.type, value.timestamp].every((member) => typeof member === 'string');
}

function requireEach(results: readonly unknown[], orders: number, requestId: string): void {
  if (results.length === orders) return;
  const message = `The reply has ${results.length} results for ${orders} orders.`;
  throw new OrdersError(message, { code: 'unexpected_reply', requestId });
}

function isCancelResult(result: unknown): boolean {
  return isObject(result) && typeof result.outcome === 'string' && typeof result.source_order_id === 'string';
}

function isBatchResult(result: unknown): boolean {
  if (!isObject(result)) return false;
  const { receipt_id, error } = result;
  if (error === undefined) return typeof receipt_id === 'string';
  if (!isObject(error) || receipt_id !== undefined) return false;
  const { status, code, detail, errors } = error;
  const isRejection = typeof status === 'number' && typeof code === 'string' && typeof detail === 'string';
  return isRejection && (errors === undefined || Array.isArray(errors));
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}
