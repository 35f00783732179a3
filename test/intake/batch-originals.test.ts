import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  closeDatabase,
  type Database,
  findOriginals,
  type IncomingReceipt,
  openDatabase,
  readOriginalBodies,
  recordReceipts,
} from '@orders/database';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';

let db: TestDatabase;
let intake: Database;
beforeAll(async () => {
  db = await createTestDatabase();
  intake = openDatabase({ url: db.directUrl, poolSize: 1, prepared: true });
});
afterAll(async () => {
  await closeDatabase(intake);
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
/** Makes the row of a batch long with another body of its account. */
const filler = () => incoming(null, JSON.stringify({ x: LONG }));
const LONG = Array.from(
  { length: 16_000 },
  () => `like an order, packed to a third: ${randomBytes(8).toString('hex')}, `,
).join('');
const bodyOf = (key: string) => `{"source_order_id":"of ${key}"}`;

const record = (keys: string[]) =>
  recordReceipts(intake, randomUUIDv7(), 3_600_000, [filler(), ...keys.map((key) => incoming(key, bodyOf(key)))]);

async function timed<Result>(work: () => Promise<Result>): Promise<[Result, number]> {
  const startedAt = performance.now();
  return [await work(), performance.now() - startedAt];
}

test.each([
  // The maximum share of the time of looking them up one by one. Reading all rows for each key takes ten times that time; unpacking
  // the row for each key takes 0.6 of it.
  ['in a row each', 60, 1, 5],
  ['all in one row', 1, 500, 0.2],
])(
  'looking up many originals together, %s of 1 MB, does not read every row for every key',
  async (how, rows, ofRow, maxShare) => {
    const keys: string[] = [];
    for (let row = 0; row < rows; row += 1) {
      const ofThis = Array.from({ length: ofRow }, (_, index) => `${how} ${row} ${index}`);
      await record(ofThis);
      keys.push(...ofThis);
    }
    const wanted = keys.map((idempotencyKey) => ({
      accountId,
      idempotencyKey,
      body: Buffer.from(bodyOf(idempotencyKey)),
    }));
    const find = async (some: typeof wanted) => {
      const originals = await findOriginals(intake, some);
      const bodies = await readOriginalBodies(
        intake,
        accountId,
        originals.map((original) => original?.receiptId ?? ''),
      );
      return originals.map((original) => [original?.isSame, bodies.get(original?.receiptId ?? '')?.toString()]);
    };
    const [together, time] = await timed(() => find(wanted));
    const [, timeOneByOne] = await timed(async () => {
      for (const one of wanted) await find([one]);
    });
    expect(together).toEqual(keys.map((key) => [true, bodyOf(key)]));
    expect(time / timeOneByOne).toBeLessThan(maxShare);
  },
);
