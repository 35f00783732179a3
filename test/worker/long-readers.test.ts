import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAccount } from '@orders/database/accounts/accounts.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { type LowerBound, NO_LOWER_BOUND, rememberLowerBound } from '@orders/database/lower-bound.ts';
import { readLoad } from '@orders/intake/observability/read-load.ts';
import { readStalls } from '@orders/intake/observability/read-stalls.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { dispatchOrders } from '@orders/worker/dispatch-orders.ts';
import { publishEvents } from '@orders/worker/publish-events.ts';
import { sweepOutbox } from '@orders/worker/receipts/outbox.ts';
import type { Knex } from 'knex';
import { countReads } from '../harness/count-reads.ts';
import { useDatabase } from '../harness/use-stack.ts';

/** Rows that were in each queue, and are gone. */
const REMOVED = 2000;
/** A read that steps over the removed rows reads each of them. */
const FEW = 100;

const { db } = useDatabase({ direct: true });
let reader: Knex.Transaction;
let accountId: number;

beforeAll(async () => {
  accountId = (await createAccount(connectionOf(db.knex), 'Kitchen')).account_id;
  await setEvents(connectionOf(db.knex), accountId, true);
  reader = await db.knex.transaction(undefined, { isolationLevel: 'repeatable read' });
  await reader.raw('select from orders');
  const numbers = `generate_series(1, ${REMOVED}) as n`;
  const earlier = "now() - interval '1 hour' + n * interval '1 s'";
  await db.knex.raw(
    `insert into outbox (batch_id, receipt_ids, due_at, account_ids) select uuidv7(), array[uuidv7()], ${earlier}, '{1}' from ${numbers}`,
  );
  await db.knex.raw(
    `insert into unpublished_events (account_id, due_at, type, receipt_id, source_order_id)
     select ?, ${earlier}, 'receipt.dead', uuidv7(), n from ${numbers}`,
    [accountId],
  );
  await db.knex.raw(
    `insert into undispatched_orders (account_id, order_id, due_at) select ?, n, ${earlier} from ${numbers}`,
    [accountId],
  );
  // The reader of pg_dump or of a report still sees them.
  for (const queue of ['outbox', 'unpublished_events', 'undispatched_orders']) await db.knex(queue).delete();
});
afterAll(() => reader.rollback());

test.each<[string, (...bounds: [LowerBound, LowerBound]) => Promise<unknown>]>([
  ['publishing', (bound) => publishEvents(db.database, { perAccount: 10, total: 10 }, 0, bound)],
  ['dispatching', (bound) => dispatchOrders(db.database, 10, bound)],
  ['the sweep', (bound) => sweepOutbox(db.database, 10, 1000, bound)],
  ['the metrics of stalls', (bound) => readStalls(db.database, bound)],
  ['the metrics of load', (due, batches) => readLoad(db.database, { due, batches })],
])('%s does not step over what was removed, however long others read', async (_, read) => {
  const rows = (...bounds: [LowerBound, LowerBound]) =>
    countReads([db.knex, db.database], 'rows', () => read(...bounds));
  expect(await rows(NO_LOWER_BOUND, NO_LOWER_BOUND)).toBeGreaterThan(REMOVED / 2);
  const bounds: [LowerBound, LowerBound] = [rememberLowerBound(3), rememberLowerBound(3)];
  await db.knex.raw("insert into outbox values (uuidv7(), array[uuidv7()], now() + interval '1 hour', '{1}')");
  await rows(...bounds);
  expect(await rows(...bounds)).toBeLessThan(FEW);
  // What was committed late is found by a full scan.
  expect(await rows(...bounds)).toBeGreaterThan(REMOVED / 2);
  expect(await rows(...bounds)).toBeLessThan(FEW);
});
