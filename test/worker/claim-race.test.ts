import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { claimAlone, claimReceipts, findSuspects, releaseLease } from '@orders/worker/receipts/claim-receipts.ts';
import { settleBatch } from '@orders/worker/receipts/outbox.ts';
import { newReceipt } from '../harness/new-receipt.ts';
import { useDatabase } from '../harness/use-stack.ts';

const WORKERS = 6;
/** No lease expires. */
const LEASE_MS = 3_600_000;

const { db, database } = useDatabase({ poolSize: WORKERS, bulk: true });
const batchId = randomUUIDv7();
const nameOf = new Map<string, string>(Array.from({ length: 100 }, (_, index) => [randomUUIDv7(), `order-${index}`]));
const receiptIds = [...nameOf.keys()].sort((a, b) => (a < b ? -1 : 1));

beforeAll(async () => {
  await recordReceipts(
    database,
    batchId,
    10_000,
    receiptIds.map((receiptId, index) =>
      newReceipt({ receiptId, accountId: 1 + (index % 4), sourceOrderId: nameOf.get(receiptId) as string }),
    ),
  );
});

/** Runs the same work on the same receipts in several workers, this often in each. Rejects when one of them fails. */
async function race(times: number, work: () => Promise<unknown>): Promise<void> {
  await Promise.all(
    Array.from({ length: WORKERS }, async () => {
      for (let time = 0; time < times; time += 1) await work();
    }),
  );
}

const bodyOf = ({ body }: { body: Buffer | null }) => JSON.parse(String(body)).source_order_id as string;

// Postgres evaluates a row again that another session changed before the lock (EvalPlanQual). With the body looked up
// in a subquery, this crashed Postgres 18.4 after some hundred claims.
test('workers that claim the same receipts at the same time get each receipt with its body or not at all', async () => {
  let claims = 0;
  await race(200, async () => {
    const leaseId = randomUUID();
    const claimed = await claimReceipts(database, receiptIds, leaseId, LEASE_MS);
    for (const one of claimed) expect(bodyOf(one)).toBe(nameOf.get(one.receiptId));
    await releaseLease(database, receiptIds, leaseId);
    claims += claimed.length;
  });
  expect(claims).toBeGreaterThanOrEqual(receiptIds.length);
});

test('the same holds for workers that claim receipts alone', async () => {
  await db.knex('receipts').update({ runs_alone: true, lease_id: null });
  let claims = 0;
  await race(15, async () => {
    for (const receiptId of (await findSuspects(database, receiptIds)).slice(0, 5)) {
      const leaseId = randomUUID();
      const one = await claimAlone(database, receiptId, leaseId, LEASE_MS, 3);
      if (one === null) continue;
      claims += 1;
      expect(one).toMatchObject({ receiptId, body: expect.any(Buffer) });
      await releaseLease(database, [receiptId], leaseId);
    }
  });
  expect(claims).toBeGreaterThanOrEqual(5);
});

test('workers that settle one outbox row at the same time keep it while one of its receipts is pending', async () => {
  await race(50, () => settleBatch(database, batchId, 10_000));
  const promise = await db.knex('outbox').where({ batch_id: batchId }).first();
  expect(promise.receipt_ids).toHaveLength(100);
});
