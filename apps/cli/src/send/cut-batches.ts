import { createHash } from 'node:crypto';
import type { SourceOrder } from './source-order.ts';

/** Orders that are sent together, and on record together in the journal. */
export interface Batch {
  /** From 0, in the order of the input. */
  number: number;
  orders: SourceOrder[];
  /** Idempotency key of the whole. */
  key: string;
  /** Dead receipts of orders in it, which are to get new ones. */
  replaces: readonly string[];
}

export interface BatchLimits {
  orders: number;
  bytes: number;
}

/**
 * Cuts the input into batches, in the same places whenever it is read.
 *
 * @param begun the batches that were begun before; the limits may have been others then, and other receipts dead.
 * @param dead the receipts of orders that are dead, by their places.
 */
export async function* cutBatches(
  orders: AsyncIterable<SourceOrder>,
  limits: BatchLimits,
  started: readonly { orders: number; replaces: readonly string[] }[],
  dead: ReadonlyMap<number, string>,
): AsyncGenerator<Batch> {
  let number = 0;
  let from = 0;
  let held: SourceOrder[] = [];
  let bytes = 0;

  function cut(): Batch {
    const replaces = started[number]?.replaces ?? held.flatMap(({ position }) => dead.get(position) ?? []);
    const batch = { number, orders: held, key: keyOf(held, from, replaces), replaces };
    number += 1;
    from += held.length;
    held = [];
    bytes = 0;
    return batch;
  }

  for await (const order of orders) {
    const size = Buffer.byteLength(order.text) + 1;
    const before = started[number];
    if (!before && held.length > 0 && bytes + size > limits.bytes) yield cut();
    held.push(order);
    bytes += size;
    if (held.length >= (before?.orders ?? limits.orders)) yield cut();
  }
  if (held.length > 0) yield cut();
}

/**
 * An idempotency key that follows from what the orders say and where they stand: the same orders sent once more replay their receipts, also
 * where no journal is left of the first time. A receipt that is dead would be replayed as well; it makes another key.
 *
 * @param from how many orders were sent before them.
 */
function keyOf(orders: readonly SourceOrder[], from: number, replaces: readonly string[]): string {
  const hash = createHash('sha256').update([from, ...replaces, ''].join('\n'));
  return `send-${hash.update(orders.map(({ text }) => text).join('\n')).digest('base64url')}`;
}
