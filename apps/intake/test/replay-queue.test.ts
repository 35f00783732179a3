import { randomUUIDv7 } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { closeDatabase, type Database, type IncomingReceipt, openDatabase } from '@orders/database';
import { contentFingerprint } from '@orders/domain';
import { type Bell, openBell } from '@orders/queue';
import { createTimeSlicer } from '@orders/runtime';
import { createTestDatabase, PREPARED, type TestDatabase } from '../../../test/harness/database.ts';
import { startQueue, type TestQueue } from '../../../test/harness/queue.ts';
import { until } from '../../../test/harness/until.ts';
import { createAdmission } from '../src/admission/admission.ts';
import { createMetrics } from '../src/metrics.ts';
import { createReceiptWriter, type ReceiptWriter } from '../src/receipts/receipt-writer.ts';

const REPLAYING = 1;
const OTHER = 2;
const LONG = 'x'.repeat(200_000);

let testDatabase: TestDatabase;
let database: Database;
let queue: TestQueue;
let bell: Bell;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = openDatabase({ url: testDatabase.url, poolSize: 4, prepared: PREPARED });
  queue = await startQueue('postgres', testDatabase.directUrl);
  bell = openBell({ url: queue.url, onDelivered: () => {}, onLost: () => {} });
});
afterAll(async () => {
  await bell.close();
  await queue.close();
  await closeDatabase(database);
  await testDatabase.close();
});

/** A writer by which the content of one account's bodies is known only once `release` is called. */
function openWriter() {
  const gate = Promise.withResolvers<void>();
  const compared: Record<number, number> = { [REPLAYING]: 0, [OTHER]: 0 };
  const writer = createReceiptWriter({
    slicer: createTimeSlicer(),
    database,
    bell,
    graceMs: 60_000,
    metrics: createMetrics(
      createAdmission({ maxOrders: 1, maxBytes: 1, maxUploads: 1, slow: { afterMs: 1, cutOff: () => {} } }),
    ),
    async fingerprint(accountId, body) {
      compared[accountId] = (compared[accountId] ?? 0) + 1;
      if (accountId === REPLAYING) await gate.promise;
      return contentFingerprint(body);
    },
  });
  return { writer, compared, release: gate.resolve };
}

const incoming = (accountId: number, idempotencyKey: string, order: object): IncomingReceipt => ({
  receiptId: randomUUIDv7(),
  accountId,
  channel: 'rest',
  sourceOrderId: 'A',
  idempotencyKey,
  body: Buffer.from(JSON.stringify({ source_order_id: 'A', ...order })),
});
const recordAll = (writer: ReceiptWriter, accountId: number, orders: object[], name: string) =>
  writer.recordAll(
    orders.map((order, index) => incoming(accountId, `${name} ${index}`, order)),
    null,
  );

test('while one account’s replays are compared, another’s orders and replays are answered', async () => {
  const { writer, compared, release } = openWriter();
  const long = Array.from({ length: 120 }, (_, index) => ({ index, x: LONG }));
  await recordAll(writer, REPLAYING, long.slice(0, 60), 'replayed');
  await recordAll(writer, OTHER, [{ total: 1 }, { total: 2 }], 'kept');
  const replaying = recordAll(writer, REPLAYING, long.slice(60), 'replayed');
  await until('the first is compared', async () => (compared[REPLAYING] ?? 0) > 0);

  const polite = await recordAll(writer, OTHER, [{ total: 1 }, { total: 3 }, { total: 4 }], 'kept');
  expect(polite.map((one) => one.status === 'fulfilled' && [one.value.duplicate, one.value.payloadMismatch])).toEqual([
    [true, false],
    [true, true],
    [false, false],
  ]);
  const fresh = await writer.record(incoming(OTHER, 'fresh', {}), null);
  expect(fresh.duplicate).toBe(false);
  // Of the account that replays nothing else is compared, nor in memory, meanwhile.
  expect(compared[REPLAYING]).toBe(1);

  release();
  const results = await replaying;
  expect(results.filter((one) => one.status === 'fulfilled' && one.value.kept?.as === 'resend')).toHaveLength(60);
});

test('what repeats byte for byte is not compared at all', async () => {
  const { writer, compared } = openWriter();
  const orders = Array.from({ length: 60 }, (_, index) => ({ index, x: LONG }));
  await recordAll(writer, REPLAYING, orders, 'same');
  const results = await recordAll(writer, REPLAYING, orders, 'same');
  expect(results.every((one) => one.status === 'fulfilled' && one.value.duplicate)).toBe(true);
  expect(compared[REPLAYING]).toBe(0);
});

test('another order under the key is not compared with the first, however long that is', async () => {
  const { writer, compared } = openWriter();
  const order = incoming(OTHER, 'reused', { x: LONG });
  await writer.record(order, null);
  const other = { ...incoming(OTHER, 'reused', {}), sourceOrderId: 'B' };
  const { kept } = await writer.record(other, null);
  expect(kept).toEqual({ receiptId: other.receiptId, as: 'dead' });
  expect(compared[OTHER]).toBe(1);
});
