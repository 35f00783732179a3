import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { afterEach, expect, test } from '@jest/globals';
import { recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { redriveReceipts } from '@orders/database/receipts/redrive-receipts.ts';
import { findOriginals, readOriginalBodies } from '@orders/intake/receipts/find-originals.ts';
import { BacklogTooLong, reconcileReceipts } from '@orders/intake/routes/reconcile-receipts.ts';
import { countReads } from '../harness/count-reads.ts';
import { newReceipt } from '../harness/new-receipt.ts';
import { startStack } from '../harness/stack.ts';
import { useDatabase } from '../harness/use-stack.ts';

const [OWN, OTHER] = [1, 2];
const IN_A_BATCH = 500;

const { db, database } = useDatabase({ direct: true });
afterEach(() => db.knex.raw('truncate outbox, receipts, receipt_payloads, dead_letters'));

/** Records one receipt for each of these accounts in one outbox row. */
async function record(accountIds: number[], sourceOrderId: string, idempotencyKey: string | null = null) {
  const receipts = accountIds.map((accountId, index) =>
    newReceipt({
      accountId,
      sourceOrderId: accountId === OWN ? sourceOrderId : `${sourceOrderId}-${index}`,
      idempotencyKey: idempotencyKey && `${idempotencyKey}-${index}`,
    }),
  );
  return recordReceipts(database, randomUUIDv7(), 3_600_000, receipts);
}

const stateOf = async (id: string) => (await reconcileReceipts(database, OWN, [id])).get(id)?.state;

test('a backlog of another account does not increase the number of rows that reconcile reads', async () => {
  await record([OWN], 'mine');
  const ask = () => reconcileReceipts(database, OWN, ['mine', 'never']);
  await ask();
  const quiet = await countReads([database], 'rows and blocks', ask);
  const others = Array<number>(IN_A_BATCH).fill(OTHER);
  for (let batch = 0; batch < 40; batch += 1) await record(others, `other-${batch}`);
  expect((await ask()).get('mine')).toMatchObject({ state: 'received' });
  expect(await countReads([database], 'rows and blocks', ask)).toBeLessThan(quiet + 100);
});

test('pending receipts are found in shared outbox rows, with and without keys, and redriven', async () => {
  await record([OTHER, OWN, OTHER], 'mixed');
  await record([OTHER, OWN, OTHER], 'keyed', 'key');
  const [, died] = await record([OTHER, OWN], 'dead');
  expect(await Promise.all(['mixed', 'keyed', 'dead'].map(stateOf))).toEqual(Array(3).fill('received'));
  // Another account's order in the same outbox row.
  expect(await stateOf('mixed-0')).toBeUndefined();
  await db.knex('receipts').where({ source_order_id: 'dead' }).update({ state: 'dead' });
  await db
    .knex('outbox')
    .whereRaw('? = any(receipt_ids)', [died ?? ''])
    .delete();
  expect(await stateOf('dead')).toBe('dead');
  const dead = await db.knex('receipts').where({ state: 'dead' }).pluck('receipt_id');
  expect(await redriveReceipts(db.db, dead)).toEqual(dead);
  expect(await stateOf('dead')).toBe('received');
  expect(await Promise.all(['mixed', 'keyed', 'dead', 'never'].map(stateOf))).toEqual([
    ...Array(3).fill('received'),
    undefined,
  ]);
});

test('an account with more than half a million pending ids gets an error at once, and other accounts get replies', async () => {
  await record([OTHER], 'theirs');
  await db.knex.raw(
    `insert into outbox (batch_id, receipt_ids, account_ids, due_at)
     select gen_random_uuid(), array(select gen_random_uuid() from generate_series(1, ?::int)), ?, now()
     from generate_series(1, 1001)`,
    [IN_A_BATCH, [OWN]],
  );
  await expect(stateOf('mine')).rejects.toBeInstanceOf(BacklogTooLong);
  const seen = await reconcileReceipts(database, OTHER, ['theirs-0', 'never']);
  expect([...seen.keys()]).toEqual(['theirs-0']);
});

test('a backlog that is too long causes 503 overloaded with Retry-After', async () => {
  const stack = await startStack('postgres');
  const [{ api }, account] = [await stack.intake(), await stack.account()];
  await stack.database.knex.raw(
    `insert into outbox (batch_id, receipt_ids, account_ids, due_at)
     select gen_random_uuid(), array(select gen_random_uuid() from generate_series(1, 500)), ?, 'infinity'
     from generate_series(1, 1001)`,
    [[account.id]],
  );
  const { status, headers, body } = await api.reconcile(account, ['x']);
  expect({ status, code: body.code }).toEqual({ status: 503, code: 'overloaded' });
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
});

const incoming = (accountId: number, idempotencyKey: string | null, body: string) =>
  newReceipt({ accountId, idempotencyKey, body: Buffer.from(body) });
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
      await recordReceipts(database, randomUUIDv7(), 3_600_000, [filler, ...ofThis]);
    }
    const replays = keys.map((idempotencyKey) => ({
      accountId,
      idempotencyKey,
      body: Buffer.from(bodyOf(idempotencyKey)),
    }));
    let originals: Awaited<ReturnType<typeof findOriginals>> = [];
    let bodies = new Map<string, Buffer>();
    const reads = await countReads([database], 'long values', async () => {
      originals = await findOriginals(database, replays);
      const receiptIds = originals.map((original) => original?.receiptId ?? '');
      bodies = await readOriginalBodies(database, accountId, receiptIds);
    });
    const found = originals.map((original) => [original?.isSame, bodies.get(original?.receiptId ?? '')?.toString()]);
    expect(found).toEqual(keys.map((key) => [true, bodyOf(key)]));
    const readsOfAll = await countReads([database], 'long values', () =>
      database.pool.query("select length(bodies || ''::bytea) from receipt_payloads where account_id = $1", [
        accountId,
      ]),
    );
    // Twice as many, unless Postgres reads them for itself meanwhile.
    expect(reads).toBeLessThan(3 * readsOfAll);
  },
);
