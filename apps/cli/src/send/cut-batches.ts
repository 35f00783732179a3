import { createHash } from 'node:crypto';
import type { SourceOrder } from './source-order.ts';

/** Orders that are sent and recorded in the journal together. */
export interface Batch {
  /** From 0, in input order. */
  number: number;
  orders: SourceOrder[];
  /** Idempotency key of the batch. */
  key: string;
  /** Dead receipts of its orders, which get new ones. */
  replaces: readonly string[];
  /** Bytes of the input from the end of the previous batch to the end of this one. */
  bytes: number;
}

/**
 * Cuts the input into batches, deterministically for the same input.
 *
 * @param started batches of earlier runs, which may have had other limits and other dead receipts.
 * @param dead dead receipts by the position of their order.
 */
export async function* cutBatches(
  orders: AsyncIterable<SourceOrder>,
  limits: { orders: number; bytes: number },
  started: readonly { orders: number; replaces: readonly string[] }[],
  dead: ReadonlyMap<number, string>,
): AsyncGenerator<Batch> {
  let number = 0;
  let from = 0;
  let held: SourceOrder[] = [];
  let bytes = 0;
  let end = 0;

  function cut(): Batch {
    const replaces = started[number]?.replaces ?? held.flatMap(({ position }) => dead.get(position) ?? []);
    const endOfHeld = held.at(-1)?.end ?? end;
    const batch = { number, orders: held, key: keyOf(held, from, replaces), replaces, bytes: endOfHeld - end };
    number += 1;
    from += held.length;
    end = endOfHeld;
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
 * An idempotency key derived from the orders' content and position: the same orders sent again replay their receipts, even if the journal
 * is lost. Dead receipts would be replayed too, so they are part of the key.
 *
 * @param from the number of orders before the batch.
 */
function keyOf(orders: readonly SourceOrder[], from: number, replaces: readonly string[]): string {
  const hash = createHash('sha256').update([from, ...replaces, ''].join('\n'));
  return `send-${hash.update(orders.map(({ text }) => text).join('\n')).digest('base64url')}`;
}
