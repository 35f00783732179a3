import { randomUUIDv7 } from 'node:crypto';
import {
  type AttemptErrorCode,
  type Channel,
  compareResent,
  contentFingerprint,
  type Difference,
  type NormalizedOrder,
} from '@orders/domain';

/** A delivery that passed every check. */
interface Incoming extends NormalizedOrder {
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
}

export type Deliveries = ReturnType<typeof createDeliveries>;

const MAX_DELIVERIES = 500;
const MAX_BYTES = 33_554_432;

/** Stores the last accepted deliveries in memory. */
export function createDeliveries() {
  /** Oldest first. */
  const stored: EchoReceipt[] = [];
  let bytes = 0;
  let orders = 0;

  const withKey = (key: string | null) => (key === null ? undefined : stored.find((receipt) => receipt.key === key));

  function store(incoming: Incoming, key: string | null, error: AttemptErrorCode | null = null): EchoReceipt {
    const { source_order_id: id } = incoming.order;
    const written = stored.find(({ state, order }) => state === 'written' && order.source_order_id === id);
    const original = error ? null : (written ?? null);
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
      changes: original ? compareResent(original.order, incoming.order) : [],
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
    find: (receiptId: string) => stored.find((receipt) => receipt.receiptId === receiptId) ?? null,
    accept(incoming: Incoming): Outcome {
      const { idempotencyKey } = incoming;
      const first = withKey(idempotencyKey);
      if (!first) {
        const receipt = store(incoming, idempotencyKey);
        return { receipt, replayed: false, kept: null, changes: receipt.changes };
      }
      const fingerprint = contentFingerprint(incoming.body);
      const kept = contentFingerprint(first.body) === fingerprint ? null : keep(first, incoming, fingerprint);
      return { receipt: first, replayed: true, kept, changes: kept?.changes ?? [] };
    },
  };
}
