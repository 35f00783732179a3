import { randomUUIDv7 } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Channel, compareResent, type Difference, type NormalizedOrder, parseBody } from '@orders/domain';

/** What passed every check. */
export interface Incoming extends NormalizedOrder {
  channel: Channel;
  idempotencyKey: string | null;
  body: Buffer;
}

/** A receipt as the worker would leave it. */
export interface Taken extends Incoming {
  receiptId: string;
  receivedAt: Date;
  /** Counted from 1; null where it repeats an order. */
  orderId: number | null;
  /** The receipt whose order this one repeats. */
  original: Taken | null;
  /** In what it differs from that order as it was first sent. */
  changes: Difference[];
}

/** How a delivery was taken. */
export interface Outcome {
  taken: Taken;
  /** Its idempotency key was known: `taken` is the receipt that first used it. */
  replayed: boolean;
  /** And this came with other content. */
  mismatch: boolean;
  /** What this delivery says differently from the one that it repeats. */
  changes: Difference[];
}

export interface Deliveries {
  take(incoming: Incoming): Outcome;
  find(receiptId: string): Taken | null;
}

const MOST = 500;
const MOST_BYTES = 33_554_432;

/** Remembers the last few hundred deliveries that were taken, by what a later one may repeat of them. */
export function createDeliveries(): Deliveries {
  const byReceipt = new Map<string, Taken>();
  const byKey = new Map<string, Taken>();
  const bySource = new Map<string, Taken>();
  let bytes = 0;
  let orders = 0;

  function remember(taken: Taken): void {
    const { receiptId, idempotencyKey, order, original, body } = taken;
    byReceipt.set(receiptId, taken);
    if (idempotencyKey !== null) byKey.set(idempotencyKey, taken);
    if (!original) bySource.set(order.source_order_id, taken);
    bytes += body.length;
    for (const oldest of byReceipt.values()) {
      if (byReceipt.size <= MOST && bytes <= MOST_BYTES) return;
      forget(oldest);
    }
  }

  function forget(taken: Taken): void {
    byReceipt.delete(taken.receiptId);
    if (taken.idempotencyKey !== null) byKey.delete(taken.idempotencyKey);
    if (!taken.original) bySource.delete(taken.order.source_order_id);
    bytes -= taken.body.length;
  }

  return {
    find: (receiptId) => byReceipt.get(receiptId) ?? null,
    take(incoming) {
      const { idempotencyKey, order } = incoming;
      const known = idempotencyKey === null ? undefined : byKey.get(idempotencyKey);
      if (known) {
        const mismatch = !isSame(known.body, incoming.body);
        return { taken: known, replayed: true, mismatch, changes: compareResent(known.order, order) };
      }
      const original = bySource.get(order.source_order_id) ?? null;
      const changes = original ? compareResent(original.order, order) : [];
      if (!original) orders += 1;
      const taken = {
        ...incoming,
        receiptId: randomUUIDv7(),
        receivedAt: new Date(),
        orderId: original ? null : orders,
        original,
        changes,
      };
      remember(taken);
      return { taken, replayed: false, mismatch: false, changes };
    },
  };
}

function isSame(one: Buffer, other: Buffer): boolean {
  return one.equals(other) || isDeepStrictEqual(parseBody(one), parseBody(other));
}
