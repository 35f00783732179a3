import { setTimeout as sleep } from 'node:timers/promises';
import { NotFoundError, OrdersError, type Receipt, type ReceiptStatus } from '@orders/client';
import { chunkBySize } from '@orders/runtime/concurrency/chunk-by-size.ts';
import { Failure } from '../errors.ts';
import { describeClientError, type Session } from '../retry-gate.ts';
import type { SentOrder } from './send-batches.ts';

/** An order with its state: `unknown` if the service no longer has its receipt, `not_asked` if the service was not asked. */
export interface FollowedOrder extends SentOrder {
  status: ReceiptStatus | 'unknown' | 'not_asked';
  error?: { code: string; detail: string } | null;
  /** Pointers to a duplicate's differences from the service's order. */
  changed?: readonly string[];
}

type AcceptedOrder = FollowedOrder & { receiptId: string };

const MAX_CONCURRENT_LOOKUPS = 8;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;
const NEEDS_DETAILS: ReadonlySet<string> = new Set(['duplicate', 'dead']);
const FINAL: ReadonlySet<string> = new Set(['written', 'duplicate', 'dead', 'unknown']);

/**
 * Asks for the outcome of accepted orders, and waits until they are final. If the service is unreachable for too long or rejects the
 * requests, it stops asking and the remaining outcomes stay unknown: the orders were sent anyway.
 *
 * @param waitMs max total wait for outcomes, in milliseconds.
 */
export function createFollowUp({ client, gate, signal }: Session, waitMs: number) {
  const deadline = performance.now() + waitMs;
  let lostBecause: string | null = null;

  async function settle(orders: readonly AcceptedOrder[]): Promise<void> {
    let open = orders;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 1.5)) {
      await lookUp(open);
      open = open.filter(({ status }) => !FINAL.has(status));
      if (open.length === 0 || performance.now() >= deadline) return;
      await sleep(Math.min(pauseMs, Math.max(0, deadline - performance.now())), undefined, { signal });
    }
  }

  async function lookUp(orders: readonly AcceptedOrder[]): Promise<void> {
    const ids = [...new Set(orders.flatMap(({ sourceOrderId: id }) => id ?? []))];
    const results = ids.length > 0 ? (await gate.run(() => client.reconcile(ids, { signal }))).results : [];
    const newest = new Map(results.map((result) => [result.source_order_id, result]));
    const single: AcceptedOrder[] = [];
    for (const order of orders) {
      const seen = newest.get(order.sourceOrderId ?? '');
      // The id may have been sent again since, or twice in the input. Only the receipt itself has a dead one's error and a duplicate's
      // changes.
      if (seen?.receipt_id !== order.receiptId || NEEDS_DETAILS.has(seen.status)) single.push(order);
      else order.status = seen.status as ReceiptStatus;
    }
    for (const chunk of chunkBySize(single, () => 1, { size: MAX_CONCURRENT_LOOKUPS }))
      await Promise.all(chunk.map(lookUpReceipt));
  }

  async function lookUpReceipt(order: AcceptedOrder): Promise<void> {
    const receipt: Receipt | null = await gate.run(() =>
      client.getReceipt(order.receiptId, { signal }).catch((error: unknown) => {
        if (error instanceof NotFoundError) return null;
        throw error;
      }),
    );
    order.status = receipt?.status ?? 'unknown';
    order.error = receipt?.error ?? null;
    order.changed = receipt?.changes?.map(({ pointer }) => pointer) ?? [];
  }

  return {
    /** Sets the outcome of each accepted order, of at most 1,000, whose texts fit into one request: so do their ids. */
    async follow(orders: readonly FollowedOrder[]): Promise<void> {
      try {
        if (lostBecause === null) await settle(orders.filter(isAccepted));
      } catch (error) {
        lostBecause = lossReason(error);
        if (lostBecause === null) throw error;
      }
    },
    /** Why it stopped asking, as a sentence; null if it did not. */
    lostBecause: () => lostBecause,
  };
}

/** Why the service cannot be asked, as a sentence; null for errors that are not the service's. */
function lossReason(error: unknown): string | null {
  if (error instanceof OrdersError) return `The service rejected the request ${describeClientError(error)}`;
  return error instanceof Failure ? error.message : null;
}

function isAccepted(order: FollowedOrder): order is AcceptedOrder {
  return order.receiptId !== undefined;
}
