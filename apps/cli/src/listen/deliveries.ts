import { randomUUIDv7 } from 'node:crypto';
import {
  type AttemptErrorCode,
  type Cancellation,
  type CancellationOutcome,
  type Channel,
  compareResent,
  contentFingerprint,
  type Difference,
  type NormalizedOrder,
  type ReviewState,
} from '@orders/domain';

/** A delivery that passed every check. */
interface Incoming extends NormalizedOrder {
  /** See `absentFields`. */
  absent: readonly string[];
  channel: Channel;
  idempotencyKey: string | null;
  body: Buffer;
}

/** A receipt as the worker would leave it. */
export interface EchoReceipt extends Incoming {
  receiptId: string;
  /** The idempotency key; for mismatched content with its fingerprint after a space, which no sender can use in a key. */
  key: string | null;
  receivedAt: Date;
  state: 'written' | 'duplicate' | 'dead';
  /** From 1; null if it duplicates an order. */
  orderId: number | null;
  /** The receipt of the order that this one duplicates. */
  original: EchoReceipt | null;
  /** Differences from that order as it was first sent. */
  changes: Difference[];
  /** Why it is dead; null if it is not. */
  error: AttemptErrorCode | null;
}

/** The outcome of a delivery. */
export interface Outcome {
  receipt: EchoReceipt;
  /** Its idempotency key was used before: `receipt` is the one that first used it. */
  replayed: boolean;
  /** The receipt of mismatched content, if the key was used before with other content. */
  kept: EchoReceipt | null;
  /** Differences from the delivery that it duplicates. */
  changes: Difference[];
  /** The state of the delivery's order; null without one. */
  orderState: ReviewState | null;
}

/** The outcome of a cancellation. It is never `requested`, as nothing is dispatched here. */
export interface CancelledOrder {
  outcome: Exclude<CancellationOutcome, 'requested'>;
  source_order_id: string;
  order_id: number | null;
  reason: string | null;
}

export type Deliveries = ReturnType<typeof createDeliveries>;

const MAX_DELIVERIES = 500;
const MAX_BYTES = 33_554_432;
const MAX_CANCELLED = 10_000;

/** Stores the last accepted deliveries and cancellations in memory. */
export function createDeliveries() {
  /** Oldest first. */
  const stored: EchoReceipt[] = [];
  /** Ids of cancelled orders, whether they have arrived or not; oldest first. */
  const cancelled = new Set<string>();
  let bytes = 0;
  let orders = 0;

  const withKey = (key: string | null) => (key === null ? undefined : stored.find((receipt) => receipt.key === key));

  const writtenAs = (id: string) =>
    stored.find(({ state, order }) => state === 'written' && order.source_order_id === id) ?? null;

  function orderStateOf({ error, order }: EchoReceipt): ReviewState | null {
    if (error) return null;
    return cancelled.has(order.source_order_id) ? 'cancelled' : 'needs_review';
  }

  function store(incoming: Incoming, key: string | null, error: AttemptErrorCode | null = null): EchoReceipt {
    const original = error ? null : writtenAs(incoming.order.source_order_id);
    const state = error ? 'dead' : original ? 'duplicate' : 'written';
    if (state === 'written') orders += 1;
    const receipt: EchoReceipt = {
      ...incoming,
      receiptId: randomUUIDv7(),
      key,
      receivedAt: new Date(),
      state,
      orderId: state === 'written' ? orders : null,
      original,
      changes: original ? compareResent(original.order, incoming) : [],
      error,
    };
    stored.push(receipt);
    bytes += receipt.body.length;
    while (stored.length > MAX_DELIVERIES || bytes > MAX_BYTES) bytes -= stored.shift()?.body.length ?? 0;
    return receipt;
  }

  /** Stores a delivery whose key was first used with other content; once for each content. */
  function keep(first: EchoReceipt, incoming: Incoming, fingerprint: string): EchoReceipt {
    const key = `${first.idempotencyKey} sha256:${fingerprint}`;
    const before = withKey(key);
    if (before) return before;
    return first.order.source_order_id === incoming.order.source_order_id
      ? store(incoming, key)
      : store({ ...incoming, warnings: [] }, key, 'idempotency_key_reused');
  }

  return {
    orderStateOf,
    find: (receiptId: string) => stored.find((receipt) => receipt.receiptId === receiptId) ?? null,
    accept(incoming: Incoming): Outcome {
      const { idempotencyKey } = incoming;
      const first = withKey(idempotencyKey);
      if (!first) {
        const receipt = store(incoming, idempotencyKey);
        return { receipt, replayed: false, kept: null, changes: receipt.changes, orderState: orderStateOf(receipt) };
      }
      const fingerprint = contentFingerprint(incoming.body);
      const kept = contentFingerprint(first.body) === fingerprint ? null : keep(first, incoming, fingerprint);
      const orderState = orderStateOf(kept ?? first);
      return { receipt: first, replayed: true, kept, changes: kept?.changes ?? [], orderState };
    },
    cancel(cancellations: readonly Cancellation[]): CancelledOrder[] {
      for (const { sourceOrderId } of cancellations) cancelled.add(sourceOrderId);
      for (const id of cancelled) if (cancelled.size > MAX_CANCELLED) cancelled.delete(id);
      return cancellations.map(({ sourceOrderId, reason }) => {
        const written = writtenAs(sourceOrderId);
        const outcome = written ? 'cancelled' : 'held';
        return { outcome, source_order_id: sourceOrderId, order_id: written?.orderId ?? null, reason };
      });
    },
  };
}
