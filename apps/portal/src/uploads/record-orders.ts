import { randomUUIDv7 } from 'node:crypto';
import { findReceiptsByKeys, type IncomingReceipt, recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import type { Connection } from '@orders/database/run.ts';
import type { Rejection } from '@orders/order-files/read-order.ts';
import { chunkBySize } from '@orders/runtime/concurrency/chunk-by-size.ts';

type ReadOrder = { sourceOrderId: string; body: Buffer } | { error: Rejection };

/** The receipt of an order, which is a duplicate if the order had arrived with the same key before; or why the order is rejected. */
export type UploadResult = { receipt_id: string; duplicate?: true } | { error: Rejection };

/** As many as intake stores in one statement. */
const MAX_RECEIPTS = 500;

/**
 * Stores the receipts of a batch of orders that were not rejected.
 *
 * @param batchKey follows from their content, so that one of its keys that is taken has the same content.
 * @returns a result for each order, in their order.
 */
export async function recordOrders(
  transaction: Connection,
  accountId: number,
  batchKey: string,
  orders: readonly ReadOrder[],
): Promise<UploadResult[]> {
  // Ascending: of two with the same `source_order_id` the first comes first.
  const ids = orders.map(() => randomUUIDv7()).sort();
  const receipts = orders.map((order, index): IncomingReceipt | { error: Rejection } =>
    'error' in order
      ? order
      : {
          ...order,
          receiptId: ids[index] as string,
          accountId,
          channel: 'rest',
          // As intake stores the keys of a batch.
          idempotencyKey: `${batchKey} ${index}`,
        },
  );
  const incoming = receipts.filter((receipt) => 'receiptId' in receipt);
  const stored = new Set<string>();
  for (const chunk of chunkBySize(incoming, () => 1, { size: MAX_RECEIPTS })) {
    // Delay 0 makes the outbox row due immediately, so the sweeper enqueues it. No time limit: only the same batch has these keys.
    for (const id of await recordReceipts(transaction, randomUUIDv7(), 0, chunk, 0)) stored.add(id);
  }
  const replayed = incoming.filter(({ receiptId }) => !stored.has(receiptId));
  const keys = replayed.map(({ idempotencyKey }) => idempotencyKey as string);
  const known = keys.length > 0 ? await findReceiptsByKeys(transaction, accountId, keys) : new Map<string, string>();
  return receipts.map((receipt) => {
    if ('error' in receipt) return receipt;
    if (stored.has(receipt.receiptId)) return { receipt_id: receipt.receiptId };
    return { receipt_id: known.get(receipt.idempotencyKey as string) as string, duplicate: true };
  });
}
