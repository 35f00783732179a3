import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { type IncomingReceipt, recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { findOriginals, readOriginalBodies } from '@orders/intake/receipts/find-originals.ts';
import { countReads } from '../harness/count-reads.ts';
import { useDatabase } from '../harness/use-database.ts';

const { database: intake } = useDatabase({ direct: true });

const incoming = (accountId: number, idempotencyKey: string | null, body: string): IncomingReceipt => ({
  receiptId: randomUUIDv7(),
  accountId,
  channel: 'rest',
  sourceOrderId: 'x',
  idempotencyKey,
  body: Buffer.from(body),
});
/** Makes the row of a batch long. */
const LONG = Array.from(
  { length: 16_000 },
  () => `like an order, packed to a third: ${randomBytes(8).toString('hex')}, `,
).join('');
const bodyOf = (key: string) => `{"source_order_id":"of ${key}"}`;

test.each([
  [8, 1],
  [1, 50],
])(
  'looking up originals in %i rows of 1 MB, %i in each, does not read every row for every key',
  async (rows, ofRow) => {
    const accountId = rows;
    const keys = Array.from({ length: rows * ofRow }, (_, index) => `key ${index}`);
    for (let row = 0; row < rows; row += 1) {
      const ofThis = keys.slice(row * ofRow, (row + 1) * ofRow).map((key) => incoming(accountId, key, bodyOf(key)));
      const filler = incoming(accountId, null, JSON.stringify({ x: LONG }));
      await recordReceipts(intake, randomUUIDv7(), 3_600_000, [filler, ...ofThis]);
    }
    const replays = keys.map((idempotencyKey) => ({
      accountId,
      idempotencyKey,
      body: Buffer.from(bodyOf(idempotencyKey)),
    }));
    let originals: Awaited<ReturnType<typeof findOriginals>> = [];
    let bodies = new Map<string, Buffer>();
    const reads = await countReads([intake], 'long values', async () => {
      originals = await findOriginals(intake, replays);
      const receiptIds = originals.map((original) => original?.receiptId ?? '');
      bodies = await readOriginalBodies(intake, accountId, receiptIds);
    });
    const found = originals.map((original) => [original?.isSame, bodies.get(original?.receiptId ?? '')?.toString()]);
    expect(found).toEqual(keys.map((key) => [true, bodyOf(key)]));
    const readsOfAll = await countReads([intake], 'long values', () =>
      intake.pool.query("select length(bodies || ''::bytea) from receipt_payloads where account_id = $1", [accountId]),
    );
    // Twice as many, unless Postgres reads them for itself meanwhile.
    expect(reads).toBeLessThan(3 * readsOfAll);
  },
);
