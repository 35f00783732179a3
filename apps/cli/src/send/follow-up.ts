import { setTimeout as sleep } from 'node:timers/promises';
import { NotFoundError, OrdersError, type Receipt, type ReceiptStatus } from '@orders/client';
import { MAX_SOURCE_ORDER_IDS } from '@orders/domain/interface-limits.ts';
import { chunkBySize } from '@orders/runtime/concurrency/chunk-by-size.ts';
import { Failure } from '../errors.ts';
import type { Result } from './journal-entries.ts';
import { describeClientError, type Session } from './retry-gate.ts';

/** The state of an accepted order: `unknown` if the service no longer has its receipt, `not_asked` if the service could not be asked. */
export interface Outcome {
  place: number;
  line: number;
  source_order_id: string | null;
  receipt_id: string;
  status: ReceiptStatus | 'unknown' | 'not_asked';
  error: { code: string; detail: string } | null;
  /** Pointers to a duplicate's differences from the service's order. */
  changed: readonly string[];
  /** Whether its idempotency key was used before with other content. */
  isMismatch: boolean;
}

/** Max ids in one request: bytes, well below the service's limit, and count. */
const LIMITS = { size: 150_000, count: MAX_SOURCE_ORDER_IDS };
const MAX_CONCURRENT_LOOKUPS = 8;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;
const NEEDS_DETAILS: ReadonlySet<string> = new Set(['duplicate', 'dead']);
const FINAL: ReadonlySet<string> = new Set(['written', 'duplicate', 'dead', 'unknown']);

/**
 * Requests the outcome of accepted orders, in chunks in the given order, and waits until they are final. If the service is unreachable
 * for too long or rejects the requests, it stops asking and the remaining outcomes stay unknown: the orders were sent anyway.
 *
 * @param waitMs max total wait for outcomes, in milliseconds.
 * @param onLost called with the reason, as a sentence, if it stops asking.
 */
export async function* followUp(
  answers: AsyncIterable<readonly Result[]>,
  { client, gate, signal }: Session,
  waitMs: number,
  onLost: (reason: string) => void,
): AsyncGenerator<Outcome[]> {
  const deadline = performance.now() + waitMs;
  let isLost = false;
  for await (const results of answers) {
    for (const orders of chunkBySize(results.flatMap(toOutcomes), sizeOfId, LIMITS)) {
      try {
        if (!isLost) await settle(orders);
      } catch (error) {
        const reason = lossReason(error);
        if (reason === null) throw error;
        isLost = true;
        onLost(reason);
      }
      yield orders;
    }
  }

  async function settle(orders: Outcome[]): Promise<void> {
    let open = orders;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 1.5)) {
      await lookUp(open);
      open = open.filter(({ status }) => !FINAL.has(status));
      if (open.length === 0 || performance.now() >= deadline) return;
      await sleep(Math.min(pauseMs, Math.max(0, deadline - performance.now())), undefined, { signal });
    }
  }

  async function lookUp(orders: readonly Outcome[]): Promise<void> {
    const ids = [...new Set(orders.flatMap(({ source_order_id: id }) => id ?? []))];
    const results = ids.length > 0 ? (await gate.run(() => client.reconcile(ids, { signal }))).results : [];
    const newest = new Map(results.map((result) => [result.source_order_id, result]));
    const single: Outcome[] = [];
    for (const order of orders) {
      const seen = newest.get(order.source_order_id ?? '');
      // The id may have been sent again since, or twice in the input. Only the receipt itself has a dead one's error and a duplicate's
      // changes.
      if (seen?.receipt_id !== order.receipt_id || NEEDS_DETAILS.has(seen.status)) single.push(order);
      else order.status = seen.status as ReceiptStatus;
    }
    for (const chunk of chunkBySize(single, () => 1, { size: MAX_CONCURRENT_LOOKUPS }))
      await Promise.all(chunk.map(lookUpReceipt));
  }

  async function lookUpReceipt(order: Outcome): Promise<void> {
    const receipt: Receipt | null = await gate.run(() =>
      client.getReceipt(order.receipt_id, { signal }).catch((error: unknown) => {
        if (error instanceof NotFoundError) return null;
        throw error;
      }),
    );
    order.status = receipt?.status ?? 'unknown';
    order.error = receipt?.error ?? null;
    order.changed = receipt?.changes?.map(({ pointer }) => pointer) ?? [];
  }
}

/** Why the service cannot be asked, as a sentence; null for errors that are not the service's. */
function lossReason(error: unknown): string | null {
  if (error instanceof OrdersError) return `The service rejected the request ${describeClientError(error)}`;
  return error instanceof Failure ? error.message : null;
}

/** An accepted order as an outcome that is still unknown; an empty list for a rejected one. */
export function toOutcomes([place, line, sourceOrderId, outcome, mismatch]: Result): Outcome[] {
  if (typeof outcome !== 'string') return [];
  const order = { place, line, source_order_id: sourceOrderId, receipt_id: outcome };
  return [{ ...order, status: 'not_asked', error: null, changed: [], isMismatch: mismatch !== undefined }];
}

function sizeOfId({ source_order_id: id }: Outcome): number {
  return Buffer.byteLength(JSON.stringify(id)) + 1;
}
