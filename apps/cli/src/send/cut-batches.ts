import { createHash } from 'node:crypto';
import type { SourceOrder } from './source-order.ts';

/** Orders that are sent together, and on record together in the journal. */
export interface Batch {
  /** From 0, in the order of the input. */
  number: number;
  orders: SourceOrder[];
  /** Idempotency key of the whole. */
  key: string;
}

export interface BatchLimits {
  orders: number;
  bytes: number;
}

/**
 * Cuts the input into batches, in the same places whenever it is read.
 *
 * @param begun how many orders each batch held that was begun before; the limits may have been others then.
 */
export async function* cutBatches(
  orders: AsyncIterable<SourceOrder>,
  limits: BatchLimits,
  begun: readonly { orders: number }[] = [],
): AsyncGenerator<Batch> {
  let number = 0;
  let place = 0;
  let held: SourceOrder[] = [];
  let bytes = 0;

  function cut(): Batch {
    const batch = { number, orders: held, key: keyOf(held, place) };
    number += 1;
    place += held.length;
    held = [];
    bytes = 0;
    return batch;
  }

  for await (const order of orders) {
    const size = Buffer.byteLength(order.text) + 1;
    const before = begun[number];
    if (!before && held.length > 0 && bytes + size > limits.bytes) yield cut();
    held.push(order);
    bytes += size;
    if (held.length >= (before?.orders ?? limits.orders)) yield cut();
  }
  if (held.length > 0) yield cut();
}

/**
 * An idempotency key that follows from what the orders say and where they stand: the same orders sent once more replay their receipts, also
 * where no journal is left of the first time.
 *
 * @param place of the first order in the input, from 0.
 */
export function keyOf(orders: readonly SourceOrder[], place: number): string {
  const hash = createHash('sha256').update(`${place}\n`);
  return `send-${hash.update(orders.map(({ text }) => text).join('\n')).digest('base64url')}`;
}
