import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { listOrders } from '@orders/cli/list-orders.ts';
import { createAccount } from '@orders/database/accounts/accounts.ts';
import { type WritableOrder, writeOrders } from '@orders/database/orders/write-orders.ts';
import { recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { normalizeOrder } from '@orders/domain/normalize-order.ts';
import { parseBody } from '@orders/domain/parse-body.ts';
import { claimReceipts } from '@orders/worker/receipts/claim-receipts.ts';
import fc from 'fast-check';
import { v7 as uuidv7 } from 'uuid';
import { anything } from '../../packages/domain/test/arbitrary-payload.ts';
import { useDatabase } from '../harness/use-database.ts';

/** `npm run test:full` tries 100,000. */
const COUNT = Number(process.env.RANDOM_ORDERS ?? 4_000);
if (!Number.isSafeInteger(COUNT) || COUNT <= 0) throw new Error('RANDOM_ORDERS takes a whole number above 0.');
/** Set RANDOM_SEED to repeat a failed run. */
const SEED = Number(process.env.RANDOM_SEED ?? Date.now() % 2 ** 31);
const BATCH = 500;

const { db, database } = useDatabase();

beforeAll(async () => {});

/** Random payloads as request bodies, each with its own id. */
function randomBodies(seed: number): Buffer[] {
  const payloads = fc.sample(anything, { numRuns: BATCH, seed });
  return payloads.map((payload) => Buffer.from(JSON.stringify({ ...payload, source_order_id: uuidv7() })));
}

test(
  `${COUNT} random payloads (RANDOM_SEED=${SEED}) are stored exactly as they were normalized`,
  async () => {
    for (let done = 0; done < COUNT; done += BATCH) {
      const { account_id: accountId } = await createAccount(db.db, `random ${done}`);
      const bodies = randomBodies(SEED + done);
      const receipts = bodies.map((body) => ({ receiptId: uuidv7(), accountId, channel: 'rest' as const, body }));
      const normalized = bodies.map((body) => normalizeOrder(parseBody(body)));
      const incoming = receipts.map((receipt, index) => ({
        ...receipt,
        sourceOrderId: normalized[index]?.order.source_order_id ?? '',
        idempotencyKey: null,
      }));
      const ids = await recordReceipts(database, randomUUID(), 60_000, incoming);
      const leaseId = randomUUID();
      await claimReceipts(database, ids, leaseId, 60_000);
      const writable = receipts.map(({ receiptId }, index) => ({ receiptId, accountId, ...normalized[index] }));
      const { written } = await writeOrders(database, leaseId, [randomUUID()], writable as WritableOrder[]);
      expect(written).toHaveLength(BATCH);

      const stored = await listOrders(db.db, { accountId });
      expect(stored).toHaveLength(BATCH);
      const expected = new Map(normalized.map((one) => [one.order.source_order_id, one]));
      for (const order of stored) {
        const one = expected.get(order.source_order_id);
        expect(order).toMatchObject({ ...one?.order, warnings: one?.warnings });
      }
    }
  },
  // As long as any other test may take, and more if there are more of them.
  240_000 + COUNT * 10,
);
