import { randomUUID } from 'node:crypto';
import { closeDatabase, type Database, openDatabase } from '@orders/database/connect.ts';
import { writeOrders } from '@orders/database/orders/write-orders.ts';
import { recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { normalizeSent } from '@orders/domain/normalize-order.ts';
import { writeDuplicates } from '@orders/worker/changed-deliveries/write-duplicates.ts';
import { claimReceipts } from '@orders/worker/receipts/claim-receipts.ts';
import { failReceipt } from '@orders/worker/receipts/fail-receipt.ts';

const LEASE_MS = 60_000;

/** A new UUIDv7, like intake's receipt ids. */
export function newReceiptId(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

/** Creates receipts in each state, with the functions that intake and worker use. */
export interface Seed {
  received(accountId: number, order: { source_order_id: string; [member: string]: unknown } | Buffer): Promise<string>;
  /** The order's id; null for a duplicate. */
  written(accountId: number, order: { source_order_id: string; [member: string]: unknown }): Promise<Written>;
  failed(accountId: number, sourceOrderId: string): Promise<string>;
  dead(accountId: number, sourceOrderId: string): Promise<string>;
  close(): Promise<void>;
}

export interface Written {
  receiptId: string;
  orderId: number | null;
}

export function openSeed(url: string): Seed {
  const database = openDatabase({ url, poolSize: 2, prepared: false });
  const fail = async (accountId: number, sourceOrderId: string, maxAttempts: number) => {
    const receiptId = await record(database, accountId, sourceOrderId, bodyOf({ source_order_id: sourceOrderId }));
    const leaseId = await claim(database, receiptId);
    const error = { code: 'write_refused', sqlstate: '23514', constraint: 'made_by_test' };
    await failReceipt(database, { receiptId, leaseId, delayMs: 60_000, maxAttempts, error, warnings: [] });
    return receiptId;
  };
  return {
    received: (accountId, order) =>
      Buffer.isBuffer(order)
        ? record(database, accountId, 'raw', order)
        : record(database, accountId, order.source_order_id, bodyOf(order)),
    async written(accountId, order) {
      const receiptId = await record(database, accountId, order.source_order_id, bodyOf(order));
      const leaseId = await claim(database, receiptId);
      const writable = { ...normalizeSent(order), receiptId, accountId };
      const { written, duplicates } = await writeOrders(database, leaseId, [receiptId], [writable]);
      const repeated = duplicates.map(({ orderId }) => ({ ...writable, orderId }));
      if (repeated.length > 0) await writeDuplicates(database, leaseId, [receiptId], [], repeated);
      return { receiptId, orderId: written[0]?.orderId ?? null };
    },
    failed: (accountId, sourceOrderId) => fail(accountId, sourceOrderId, 8),
    dead: (accountId, sourceOrderId) => fail(accountId, sourceOrderId, 1),
    close: () => closeDatabase(database),
  };
}

function bodyOf(order: object): Buffer {
  return Buffer.from(JSON.stringify(order));
}

async function record(database: Database, accountId: number, sourceOrderId: string, body: Buffer): Promise<string> {
  const receiptId = newReceiptId();
  const receipt = { receiptId, accountId, channel: 'rest', sourceOrderId, idempotencyKey: null, body } as const;
  // Not due while a test runs, so that what is due is what a test made due.
  await recordReceipts(database, receiptId, 3_600_000, [receipt]);
  return receiptId;
}

async function claim(database: Database, receiptId: string): Promise<string> {
  const leaseId = randomUUID();
  await claimReceipts(database, [receiptId], leaseId, LEASE_MS);
  return leaseId;
}
