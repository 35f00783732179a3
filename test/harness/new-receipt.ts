import { randomUUIDv7 } from 'node:crypto';
import type { IncomingReceipt } from '@orders/database/receipts/record-receipts.ts';

/** A receipt as intake records it, with simple defaults; its body is an order with this id and nothing else. */
export function newReceipt(fields: Partial<IncomingReceipt> = {}): IncomingReceipt {
  const { sourceOrderId = 'x' } = fields;
  return {
    receiptId: randomUUIDv7(),
    accountId: 1,
    channel: 'rest',
    sourceOrderId,
    idempotencyKey: null,
    body: Buffer.from(JSON.stringify({ source_order_id: sourceOrderId })),
    ...fields,
  };
}
