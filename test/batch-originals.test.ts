import { randomUUIDv7 } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  closeDatabase,
  type Database,
  findOriginals,
  type IncomingReceipt,
  openDatabase,
  recordReceipts,
} from '@orders/database';
import { createTestDatabase, type TestDatabase } from './harness/database.ts';

let db: TestDatabase;
let intake: Database;
beforeAll(async () => {
  db = await createTestDatabase();
  intake = openDatabase({ url: db.directUrl, poolSize: 1, prepared: true });
});
afterAll(async () => {
  await closeDatabase(intake);
  await db.close();
});

const accountId = 1;
const incoming = (idempotencyKey: string | null, body: string): IncomingReceipt => ({
  receiptId: randomUUIDv7(),
  accountId,
  channel: 'rest',
  sourceOrderId: 'x',
  idempotencyKey,
  body: Buffer.from(body),
});
/** Makes the bodies of a batch a long row, as other orders of its account do. */
const filler = () => incoming(null, JSON.stringify({ x: 'something like an order '.repeat(40_000) }));
const bodyOf = (key: string) => `{"source_order_id":"of ${key}"}`;

const record = (keys: string[]) =>
  recordReceipts(intake, randomUUIDv7(), 3_600_000, [filler(), ...keys.map((key) => incoming(key, bodyOf(key)))]);

async function timed<Result>(work: () => Promise<Result>): Promise<[Result, number]> {
  const startedAt = performance.now();
  return [await work(), performance.now() - startedAt];
}

test.each([
  ['in a row each', 150, 1],
  ['all in one row', 1, 500],
])('what keys first brought, %s of 1 MB, is found together at less cost than one by one', async (how, rows, ofRow) => {
  const keys: string[] = [];
  for (let row = 0; row < rows; row += 1) {
    const ofThis = Array.from({ length: ofRow }, (_, index) => `${how} ${row} ${index}`);
    await record(ofThis);
    keys.push(...ofThis);
  }
  const wanted = keys.map((idempotencyKey) => ({ accountId, idempotencyKey }));
  const [together, time] = await timed(() => findOriginals(intake, wanted));
  const [, timeOneByOne] = await timed(async () => {
    for (const one of wanted) await findOriginals(intake, [one]);
  });
  const bodies = new Map(together.map(({ idempotencyKey, body }) => [idempotencyKey, body?.toString()]));
  expect(bodies).toEqual(new Map(keys.map((key) => [key, bodyOf(key)])));
  // Of both a multiple would be many times over it: 150 rows looked through for each of 150 keys, or one row unpacked 500 times.
  expect(time).toBeLessThan(timeOneByOne);
});
