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
export interface Incoming extends NormalizedOrder {
  channel: Channel;
  idempotencyKey: string | null;
  body: Buffer;
}

/** A receipt as the worker would leave it. */
export interface EchoReceipt extends Incoming {
  receiptId: string;
  receivedAt: Date;
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

/** The final state of a receipt. */
export function stateOf({ original, error }: EchoReceipt): 'written' | 'duplicate' | 'dead' {
  if (error) return 'dead';
  return original ? 'duplicate' : 'written';
}

export interface Deliveries {
  accept(incoming: Incoming): Outcome;
  find(receiptId: string): EchoReceipt | null;
}

const MAX_DELIVERIES = 500;
const MAX_BYTES = 33_554_432;

/** Stores the last accepted deliveries in memory, indexed by everything that a later one may duplicate. */
export function createDeliveries(): Deliveries {
  const byReceipt = new Map<string, EchoReceipt>();
  /** Also contains the keys of mismatched content; these contain a space, so no sender can use them. */
  const byKey = new Map<string, EchoReceipt>();
  const bySource = new Map<string, EchoReceipt>();
  let bytes = 0;
  let orders = 0;

  function remember(receipt: EchoReceipt, key: string | null): void {
    const { receiptId, order, orderId, body } = receipt;
    byReceipt.set(receiptId, receipt);
    if (key !== null) byKey.set(key, receipt);
    if (orderId !== null) bySource.set(order.source_order_id, receipt);
    bytes += body.length;
    for (const oldest of byReceipt.values()) {
      if (byReceipt.size <= MAX_DELIVERIES && bytes <= MAX_BYTES) return;
      forget(oldest);
    }
  }

  function forget(receipt: EchoReceipt): void {
    byReceipt.delete(receipt.receiptId);
    for (const [key, other] of byKey) if (other === receipt) byKey.delete(key);
    if (receipt.orderId !== null) bySource.delete(receipt.order.source_order_id);
    bytes -= receipt.body.length;
  }

  function store(incoming: Incoming, key: string | null): EchoReceipt {
    const original = bySource.get(incoming.order.source_order_id) ?? null;
    const changes = original ? compareResent(original.order, incoming.order) : [];
    if (!original) orders += 1;
    return receive({ ...incoming, orderId: original ? null : orders, original, changes, error: null }, key);
  }

  function receive(receipt: Omit<EchoReceipt, 'receiptId' | 'receivedAt'>, key: string | null): EchoReceipt {
    const received = { ...receipt, receiptId: randomUUIDv7(), receivedAt: new Date() };
    remember(received, key);
    return received;
  }

  /** Stores a delivery whose key was first used with other content; once for each content. */
  function keep(first: EchoReceipt, incoming: Incoming, fingerprint: string): EchoReceipt {
    const key = `${first.idempotencyKey} sha256:${fingerprint}`;
    const before = byKey.get(key);
    if (before) return before;
    if (first.order.source_order_id === incoming.order.source_order_id) return store(incoming, key);
    const error = 'idempotency_key_reused';
    return receive({ ...incoming, warnings: [], orderId: null, original: null, changes: [], error }, key);
  }

  return {
    find: (receiptId) => byReceipt.get(receiptId) ?? null,
    accept(incoming) {
      const { idempotencyKey } = incoming;
      const first = idempotencyKey === null ? undefined : byKey.get(idempotencyKey);
      if (!first) {
        const receipt = store(incoming, idempotencyKey);
        return { receipt, replayed: false, kept: null, changes: receipt.changes };
      }
      const fingerprint = contentFingerprint(incoming.body);
      const isSame = contentFingerprint(first.body) === fingerprint;
      const kept = isSame ? null : keep(first, incoming, fingerprint);
      return { receipt: first, replayed: true, kept, changes: kept?.changes ?? [] };
    },
  };
}
