import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAccount } from '@orders/database/accounts/accounts.ts';
import { createKey } from '@orders/database/accounts/api-keys.ts';
import { recordAudit } from '@orders/database/audit.ts';
import { closeDatabase, type Database, openDatabase } from '@orders/database/connect.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { writeCancelled } from '@orders/database/orders/write-cancelled.ts';
import { writeOrders } from '@orders/database/orders/write-orders.ts';
import { findFinalReceipts, findReceipt } from '@orders/database/receipts/find-receipt.ts';
import { findReceiptsByKeys, type IncomingReceipt, recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { addSourceActivity } from '@orders/database/sources/activity.ts';
import { normalizeSent } from '@orders/domain/normalize-order.ts';
import { readStalls } from '@orders/intake/observability/read-stalls.ts';
import { findSources } from '@orders/intake/pipeline/find-sources.ts';
import { findOriginals, readOriginalBodies } from '@orders/intake/receipts/find-originals.ts';
import { contentKey, deleteIdempotencyKey, storeMismatches } from '@orders/intake/receipts/store-mismatches.ts';
import { storeUnmapped } from '@orders/intake/receipts/store-unmapped.ts';
import { cancelOrders } from '@orders/intake/routes/cancel-orders.ts';
import { useSource } from '@orders/intake/routes/post-delivery.ts';
import { findEventLog, findNewestEvents, readEvents } from '@orders/intake/routes/read-events.ts';
import { reconcileReceipts } from '@orders/intake/routes/reconcile-receipts.ts';
import { findChangedDeliveries } from '@orders/portal/review/find-changed-deliveries.ts';
import { chainAuditEvents } from '@orders/worker/chain-audit.ts';
import { writeDuplicates } from '@orders/worker/changed-deliveries/write-duplicates.ts';
import { publishEvents } from '@orders/worker/publish-events.ts';
import { claimAlone, claimReceipts, findSuspects, releaseLease } from '@orders/worker/receipts/claim-receipts.ts';
import { failReceipt } from '@orders/worker/receipts/fail-receipt.ts';
import { settleBatch, sweepOutbox } from '@orders/worker/receipts/outbox.ts';
import { countReads } from '../harness/count-reads.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { stopAutovacuum } from '../harness/review-list.ts';

const STORED = 6000;
const BATCH = 300;
/** The maximum for a statement about one receipt. A plan that scans a table or an index reads thousands of rows. */
const FEW_ROWS = 100;
/** Logs of events of other accounts. */
const LOGS = 1000;
/** Statements that look into each log. */
const OF_ALL_LOGS = ['publish events', 'stalls'];
/** The statement that merges a version with those before it, ten at most. */
const OF_TEN_VERSIONS = 'store again with changes that were accepted';
const maxRows = (name: string, plans: string) =>
  FEW_ROWS * (name === OF_TEN_VERSIONS ? 3 : 1) +
  (OF_ALL_LOGS.includes(name) ? 2 * LOGS : 0) +
  // Postgres can plan a statement again at any time. Until autovacuum first analyzes the table, it then sorts the versions of an order.
  (plans !== WITH_STATISTICS && name in SENT_BEFORE ? VERSIONS : 0);
const WITH_STATISTICS = 'of full tables with statistics';
/** Of one order. */
const VERSIONS = 5000;

let db: TestDatabase;
let intake: Database;
let worker: Database;
beforeAll(async () => {
  db = await createTestDatabase();
  await stopAutovacuum(db.knex);
  intake = openDatabase({ url: db.directUrl, poolSize: 1, prepared: true });
  worker = openDatabase({ url: db.directUrl, poolSize: 1, prepared: true, bulk: true });
  // A connection that is closed because it is idle would be replaced, and its statements planned anew.
  for (const { pool } of [intake, worker]) pool.options.idleTimeoutMillis = 0;
  const { account_id } = await createAccount(db.db, 'plans');
  await createKey(db.db, account_id, 'test');
  await setEvents(db.db, account_id, true);
});
afterAll(async () => {
  await Promise.all([closeDatabase(intake), closeDatabase(worker)]);
});

const incoming = (): IncomingReceipt => ({
  receiptId: randomUUIDv7(),
  accountId: 1,
  channel: 'rest',
  sourceOrderId: randomUUID(),
  idempotencyKey: randomUUID(),
  body: Buffer.from('{}'),
});

/** @returns the `source_order_id` of a written order. */
let known = 'none';

/** @returns the `source_order_id` of the first. */
async function store(count: number): Promise<string> {
  const receipts = Array.from({ length: count }, incoming);
  const { written } = await write(receipts, {});
  expect(written).toHaveLength(count);
  return receipts[0]?.sourceOrderId as string;
}

async function write(receipts: IncomingReceipt[], fields: object) {
  const [batchId, leaseId] = [randomUUIDv7(), randomUUID()];
  const receiptIds = await recordReceipts(intake, batchId, 60_000, receipts);
  await claimReceipts(worker, receiptIds, leaseId, 60_000);
  const orders = receipts.map(({ receiptId, accountId, sourceOrderId }) => ({
    ...normalizeSent({ source_order_id: sourceOrderId, ...fields }),
    receiptId,
    accountId,
  }));
  return { ...(await writeOrders(worker, leaseId, [batchId], orders)), batchId, leaseId, orders };
}

const CHANGES = '[{"pointer": "/total", "from": null, "to": "2"}]';
/** What was sent before of an order, thousands of times: SQL of `modified_at`, `changes`, `is_outdated` and `decision`. */
const SENT_BEFORE = {
  'store again what was sent without end': 'null, null, false, null',
  'store again with changes that wait': `null, '${CHANGES}', false, null`,
  'store again with outdated changes': `now() - interval '1 day', '${CHANGES}', true, null`,
  'store again with changes that were accepted': `now() - interval '1 day', '${CHANGES}', false, 'accepted'`,
};

/** Sends an order and then again with other content, by default with nothing in between. @returns a function that settles it as a changed duplicate. */
async function storeTwice(before?: string): Promise<() => Promise<unknown>> {
  const first = incoming();
  const delivery = { sourceNumber: 1, kind: 'order', modifiedAt: new Date(), raw: Buffer.from('{}') } as const;
  const second = { ...incoming(), delivery };
  await write([first], {});
  const { duplicates, batchId, leaseId, orders } = await write([{ ...second, sourceOrderId: first.sourceOrderId }], {
    total: 1,
  });
  const repeated = orders.map((order) => ({ ...order, orderId: duplicates[0]?.orderId ?? 0 }));
  if (before)
    await intake.pool.query(
      `with sent as (
         insert into receipts (receipt_id, account_id, batch_id, body_start, body_length, channel, source_order_id, state)
         select gen_random_uuid(), account_id, batch_id, body_start, body_length, channel, source_order_id, 'duplicate'
         from receipts, generate_series(1, ${VERSIONS})
         where receipt_id = $2 and account_id = 1
         returning receipt_id
       )
       insert into changed_deliveries (account_id, order_id, receipt_id, modified_at, changes, is_outdated, decision)
       select 1, $1, receipt_id, ${before} from sent`,
      [duplicates[0]?.orderId ?? 0, first.receiptId],
    );
  return async () => {
    const duplicates = await writeDuplicates(worker, leaseId, [batchId], [], repeated);
    expect(duplicates).toEqual([{ receiptId: second.receiptId, isChanged: true }]);
    expect(await findReceipt(intake, 1, second.receiptId)).toMatchObject({
      state: 'duplicate',
      changes: expect.arrayContaining([{ pointer: '/total', from: null, to: '1' }]),
    });
    expect(await findChangedDeliveries(intake, 1, [repeated[0]?.orderId ?? 0])).not.toHaveLength(0);
  };
}

/** Runs every hot statement about one receipt that was not claimed. */
async function runAll(measure: (name: string, work: () => Promise<unknown>) => Promise<void>): Promise<void> {
  const receipt = incoming();
  const { receiptId, accountId } = receipt;
  const idempotencyKey = receipt.idempotencyKey as string;
  const leaseId = randomUUID();
  const error = { code: 'write_refused', sqlstate: null, constraint: null };
  const attempt = { receiptId, leaseId, delayMs: 0, maxAttempts: 8, error, warnings: [] };
  await measure('record', () => recordReceipts(intake, receiptId, 0, [receipt]));
  await measure('record without key', () =>
    recordReceipts(intake, randomUUIDv7(), 60_000, [{ ...incoming(), idempotencyKey: null }]),
  );
  await measure('find originals', () => findOriginals(intake, [{ accountId, idempotencyKey, body: receipt.body }]));
  await measure('read original bodies', () => readOriginalBodies(intake, accountId, [receiptId]));
  for (const isSameOrder of [true, false]) {
    const mismatch = {
      ...incoming(),
      idempotencyKey: contentKey(idempotencyKey, randomUUID()),
      originalId: receiptId,
      isSameOrder,
    };
    await measure(`keep a mismatch, ${isSameOrder}`, () => storeMismatches(intake, randomUUIDv7(), 60_000, [mismatch]));
    await measure(`find it by its key, ${isSameOrder}`, () =>
      findReceiptsByKeys(intake, accountId, [mismatch.idempotencyKey]),
    );
  }
  await measure('forget keys', () => deleteIdempotencyKey(intake, accountId, randomUUID(), receiptId));
  await measure('find receipt', () => findReceipt(intake, accountId, receiptId));
  await measure('find final receipts', () => findFinalReceipts(intake, [receiptId]));
  await measure('reconcile', () => reconcileReceipts(intake, accountId, [receipt.sourceOrderId, known]));
  await measure('claim', () => claimReceipts(worker, [receiptId], leaseId, 0));
  await measure('release', () => releaseLease(worker, [receiptId], randomUUID()));
  await measure('suspects', () => findSuspects(worker, [receiptId]));
  await measure('fail', () => failReceipt(worker, attempt));
  await measure('claim alone', () => claimAlone(worker, receiptId, leaseId, 60_000, 3));
  const cancel = (...ids: string[]) => {
    const cancellations = ids.map((id) => ({ sourceOrderId: id, reason: null }));
    return cancelOrders(intake, { accountId, by: { keyId: 1 }, cancellations });
  };
  await measure('cancel an order and hold a cancellation', () => cancel(known, randomUUID()));
  await measure('cancel again', () => cancel(known));
  const held = incoming();
  await cancel(held.sourceOrderId);
  const { cancelledIds, ...claimed } = await write([held], {});
  expect(cancelledIds).toEqual([held.receiptId]);
  await measure('write a cancelled order', () => writeCancelled(worker, claimed.leaseId, claimed.orders));
  await measure('settle', () => settleBatch(worker, receiptId, 0));
  await measure('sweep', () => sweepOutbox(worker, 200, 60_000));
  const of = { sourceNumber: 1, kind: 'order', modifiedAt: null } as const;
  const delivery = { ...of, raw: Buffer.from('{}') };
  await measure('record a delivery', () =>
    recordReceipts(intake, randomUUIDv7(), 60_000, [{ ...incoming(), delivery }]),
  );
  const unmapped = { receiptId: randomUUIDv7(), accountId, ...of, body: delivery.raw };
  await measure('store an unmapped delivery', () => storeUnmapped(intake, unmapped));
  await measure('find a source', () => findSources(intake, [randomUUID()]));
  await measure('use a source', () => useSource(intake, accountId, 1).catch(() => 'there is none'));
  const count = { accountId, sourceNumber: 1, outcome: 'order' as const, count: 1, receiptIds: [receiptId] };
  await measure('count a delivery', () => addSourceActivity(intake, [count]));
  await measure('store', () => store(1).then((id) => (known = id)));
  await measure('store again', await storeTwice());
  await measure('publish events', () => publishEvents(worker, { perAccount: 1, total: 10 }, 2));
  while ((await chainAuditEvents(worker, 500)) > 0);
  await recordAudit(db.db, { accountId, actor: 'x', action: 'x', subject: 'x' });
  await measure('chain audit events', async () => expect(await chainAuditEvents(worker, 500)).toBe(1));
  await measure('read events', () => readEvents(intake, accountId, published, 10));
  await measure('find an event log', () => findEventLog(intake, accountId));
  await measure('find the newest events', () => findNewestEvents(intake, [accountId]));
  await measure('stalls', () => readStalls(intake));
  for (const [name, before] of Object.entries(SENT_BEFORE)) await measure(name, await storeTwice(before));
}

/** Ends the connections, whose statements are then planned anew. */
async function reconnect(): Promise<void> {
  for (const { pool } of [intake, worker]) {
    const { rows } = await pool.query('select pg_backend_pid() as pid');
    const removed = new Promise((resolve) => pool.once('remove', resolve));
    await db.knex.raw('select pg_terminate_backend(?)', [rows[0].pid]);
    await removed;
  }
}

/** The sequence of an event within those of the account. */
let published = 0;

/** Adds thousands of events: published ones, and ones that are not due, also of another account and of a disabled log. */
async function storeEvents(): Promise<void> {
  published = 102_500;
  await intake.pool.query(`
    insert into accounts (name) select 'other' from generate_series(1, ${LOGS});
    insert into event_logs (account_id, is_enabled) select account_id, account_id <> 3 from accounts where account_id > 1;
    insert into events (account_id, sequence, event_id, type, happened_at, receipt_id, source_order_id, order_id, details)
    select account_id, 100000 + n, gen_random_uuid(), 'order.confirmed', now(), gen_random_uuid(), 'x', n, '{}'
    from generate_series(1, 5000) as n, generate_series(1, 2) as account_id;
    update event_logs set last_sequence = 105000 where account_id < 3;
    insert into undispatched_orders (account_id, order_id, due_at)
    select account_id, n, now() + interval '1 hour' from generate_series(1000001, 1005000) as n, generate_series(2, 3) as account_id;
    insert into unpublished_events (account_id, due_at, type, receipt_id, source_order_id, order_id)
    select account_id, now() + interval '1 hour', 'order.edited', gen_random_uuid(), 'x', n
    from generate_series(1, 5000) as n, generate_series(2, 3) as account_id`);
}

test('no hot statement reads a full table, whether it was planned for empty or for full tables', async () => {
  for (let time = 0; time < 3; time += 1) await runAll((_, work) => work().then(() => {}));
  for (let stored = 0; stored < STORED; stored += BATCH) await store(BATCH);
  // On the session that `countReads` asks. Another session reports its reads up to a second later, during another statement.
  await intake.pool.query(
    'insert into changed_deliveries (account_id, order_id, receipt_id) select account_id, order_id, receipt_id from orders',
  );
  await intake.pool.query(
    `insert into sources (account_id, source_id, name, preset, settings, mapping, sealed)
     select 1, gen_random_uuid()::text, 'x', 'custom', '{}', '{}', '' from generate_series(1, 3000)`,
  );
  await intake.pool.query(
    `insert into source_activity (account_id, source_number, day, outcome, count, last_at, receipt_ids)
     select 1, number, now(), 'order', 1, now(), '{}' from generate_series(2, 3000) as number`,
  );
  await storeEvents();
  await intake.pool.query(
    "insert into audit_events (account_id, actor, action, subject) select 1, 'x', 'x', 'x' from generate_series(1, 5000)",
  );
  while ((await chainAuditEvents(worker, 500)) > 0);
  for (const plans of ['of empty tables', 'of full tables without statistics', WITH_STATISTICS]) {
    if (plans === WITH_STATISTICS) await intake.pool.query('analyze');
    // Statements are planned once per connection.
    if (plans !== 'of empty tables') await reconnect();
    // Entries of deleted rows stay in the indexes until a vacuum, which runs every minute in production.
    await intake.pool.query('vacuum outbox, unchained_audit_events');
    const read = new Map<string, number>();
    await runAll(async (name, work) => {
      read.set(name, await countReads([db.knex, intake, worker], 'rows', work));
    });
    expect([plans, ...[...read].filter(([name, rows]) => rows > maxRows(name, plans))]).toEqual([plans]);
    expect(read.size).toBe(39);
  }
});
