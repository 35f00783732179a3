import { randomUUIDv7 } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import type { IncomingReceipt } from '@orders/database/receipts/record-receipts.ts';
import { contentFingerprint } from '@orders/domain/content-fingerprint.ts';
import { openProducer, type Producer } from '@orders/queue/open-producer.ts';
import { createTimeSlicer } from '@orders/runtime/concurrency/fair-sharing.ts';
import { until } from '@orders/test-services/until.ts';
import { createAdmission } from '../../apps/intake/src/admission/admission.ts';
import { createMetrics } from '../../apps/intake/src/observability/metrics.ts';
import { createReceiptWriter, type ReceiptWriter } from '../../apps/intake/src/receipts/receipt-writer.ts';
import { closeAtEnd } from '../harness/close-at-end.ts';
import { startQueue, type TestQueue } from '../harness/queue.ts';
import { useDatabase } from '../harness/use-stack.ts';

const REPLAYING = 1;
const OTHER = 2;
const REUSING = 3;
const LONG = 'x'.repeat(200_000);

const { db, database } = useDatabase({ poolSize: 4 });
let queue: TestQueue;
let producer: Producer;

beforeAll(async () => {
  queue = await startQueue('postgres', db.directUrl);
  producer = closeAtEnd(openProducer({ url: queue.url, onDelivered: () => {}, onLost: () => {} }));
});

/** A writer that computes no fingerprint of one account's bodies until `release` is called. */
function openWriter() {
  const barrier = Promise.withResolvers<void>();
  const compared: Record<number, number> = { [REPLAYING]: 0, [OTHER]: 0, [REUSING]: 0 };
  const writer = createReceiptWriter({
    slicer: createTimeSlicer(),
    database,
    producer,
    graceMs: 60_000,
    metrics: createMetrics(
      createAdmission({ maxOrders: 1, maxBytes: 1, maxUploads: 1, slow: { afterMs: 1, cutOff: () => {} } }),
    ),
    async fingerprint(accountId, body) {
      compared[accountId] = (compared[accountId] ?? 0) + 1;
      if (accountId === REPLAYING) await barrier.promise;
      return contentFingerprint(body);
    },
  });
  return { writer, compared, release: barrier.resolve };
}

function incoming(accountId: number, idempotencyKey: string, order: object): IncomingReceipt {
  const whole = { source_order_id: 'A', ...order };
  const body = Buffer.from(JSON.stringify(whole));
  const sourceOrderId = whole.source_order_id;
  return { receiptId: randomUUIDv7(), accountId, channel: 'rest', sourceOrderId, idempotencyKey, body };
}
/** The largest portion of an account's stored mismatches, in deliveries and in bytes. */
async function largestPortions(accountId: number): Promise<{ count: number; bytes: number }> {
  const { rows } = await db.knex.raw(
    `select max(count)::int as count, max(bytes)::int as bytes from (
       select count(*), sum(body_length) as bytes from receipts where account_id = ? and history is not null group by batch_id
     ) as portions`,
    [accountId],
  );
  return rows[0];
}
const recordAll = (writer: ReceiptWriter, accountId: number, orders: object[], name: string) =>
  writer.recordAll(
    orders.map((order, index) => incoming(accountId, `${name} ${index}`, order)),
    null,
  );

test('other accounts get replies while the replays of one account are compared', async () => {
  const { writer, compared, release } = openWriter();
  const long = Array.from({ length: 40 }, (_, index) => ({ index, x: LONG }));
  await recordAll(writer, REPLAYING, long.slice(0, 20), 'replayed');
  await recordAll(writer, OTHER, [{ total: 1 }, { total: 2 }], 'kept');
  const replaying = recordAll(writer, REPLAYING, long.slice(20), 'replayed');
  await until('the first is compared', async () => (compared[REPLAYING] ?? 0) > 0);

  const othersResults = await recordAll(writer, OTHER, [{ total: 1 }, { total: 3 }, { total: 4 }], 'kept');
  expect(
    othersResults.map(
      (result) => result.status === 'fulfilled' && [result.value.duplicate, result.value.payloadMismatch],
    ),
  ).toEqual([
    [true, false],
    [true, true],
    [false, false],
  ]);
  const fresh = await writer.record(incoming(OTHER, 'fresh', {}), null);
  expect(fresh.duplicate).toBe(false);
  // Meanwhile no other delivery of the replaying account is compared or in memory.
  expect(compared[REPLAYING]).toBe(1);

  release();
  const results = await replaying;
  expect(results.filter((result) => result.status === 'fulfilled' && result.value.kept?.as === 'resend')).toHaveLength(
    20,
  );
  // Half of a portion of 1 MiB are originals.
  expect((await largestPortions(REPLAYING)).bytes).toBeLessThan((1024 * 1024) / 2);
});

test('a replay with identical bytes is not compared', async () => {
  const { writer, compared } = openWriter();
  const orders = Array.from({ length: 20 }, (_, index) => ({ index, x: LONG }));
  await recordAll(writer, REPLAYING, orders, 'same');
  const results = await recordAll(writer, REPLAYING, orders, 'same');
  expect(results.map((result) => result.status === 'fulfilled' && result.value.duplicate)).toEqual(
    Array(20).fill(true),
  );
  expect(compared[REPLAYING]).toBe(0);
});

test('different orders under used keys are not compared with long originals', async () => {
  const { writer, compared } = openWriter();
  const orders = (order: object) => Array.from({ length: 60 }, () => order);
  await recordAll(writer, REUSING, orders({ x: LONG }), 'reused');
  const results = await recordAll(writer, REUSING, orders({ source_order_id: 'B' }), 'reused');
  expect(results.filter((result) => result.status === 'fulfilled' && result.value.kept?.as === 'dead')).toHaveLength(
    60,
  );
  expect(compared[REUSING]).toBe(60);
  expect((await largestPortions(REUSING)).count).toBe(50);
});
