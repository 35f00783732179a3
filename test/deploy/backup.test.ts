import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createEndpoint } from '@orders/database/endpoints/endpoints.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { claimEndpoints } from '@orders/notifier/claim-endpoints.ts';
import { until } from '@orders/test-services/until.ts';
import type { Knex } from 'knex';
import type { Api } from '../harness/api.ts';
import { ARCHIVE_SETTINGS, type Backup, takeBackup } from '../harness/base-backup.ts';
import { type FaultyPostgres, startFaultyPostgres } from '../harness/faulty-postgres.ts';
import { QUEUE_KIND } from '../harness/queue.ts';
import { dispatch } from '../harness/review-list.ts';
import { expectSettled, NO_FAILED_ATTEMPT, written } from '../harness/settled.ts';
import { type Stack, startStack, type TestAccount } from '../harness/stack.ts';
import { startSteadyLoad } from '../harness/steady-load.ts';

/** The confirmed orders behind a cursor, read like the dispatching system does. */
const follow = (knex: Knex, position: number): Promise<{ source_order_id: string; position: number }[]> =>
  knex('dispatchable_orders').where('position', '>', position).orderBy('position');

/** Confirms the oldest unconfirmed order and dispatches it. @returns its `source_order_id`. */
async function confirmNext(knex: Knex): Promise<string> {
  return until('an order waits for its review', async () => {
    const next = knex('orders').where({ review_state: 'needs_review' }).orderBy('order_id').limit(1).select('order_id');
    const [row] = await knex('orders')
      .where('order_id', next)
      .update({
        review_state: 'confirmed',
        reviewed_at: knex.raw("now() - interval '1 minute'"),
      })
      .returning(['source_order_id', 'order_id', 'account_id']);
    if (!row) return undefined;
    await knex('undispatched_orders').insert({ account_id: row.account_id, order_id: row.order_id });
    await dispatch(knex, row.order_id);
    return row.source_order_id;
  });
}

/** What the command for a restore runs after a restore to a time. */
const AFTER_RESTORE = [
  ...readFileSync(join(import.meta.dirname, '../../deploy/postgres/backup.sh'), 'utf8').matchAll(
    /^ +sql --command=(["'])((?:select setval|update event_logs|update dispatch_counter).+)\1 > \/dev\/null$/gm,
  ),
].map(([, , sql]) => sql as string);

/** The ids of all events of an account by sequence. */
async function readFeed(api: Api, account: TestAccount): Promise<Map<number, string>> {
  const ids = new Map<number, string>();
  for (let page = { next: '0', more: true }; page.more; ) {
    const { status, body } = await api.events(account, `after=${page.next}&limit=1000`);
    expect(status).toBe(200);
    for (const { id, data } of body.events) ids.set(data.sequence, id);
    page = body;
  }
  return ids;
}

const cursorBehind = async (knex: Knex, sourceOrderId: string): Promise<number> => {
  const shown = async () => (await follow(knex, 0)).find((order) => order.source_order_id === sourceOrderId);
  return (await until(`${sourceOrderId} can be dispatched`, shown)).position;
};

describe('a lost Postgres, restored from a base backup and its archive, with an empty queue', () => {
  let primary: FaultyPostgres;
  let backup: Backup;
  let account: TestAccount;
  /** The stack on a restored database. */
  let stack: Stack;
  /** Receipt ids by `source_order_id` (also the idempotency key) of all orders, and of those before the restore point. */
  let accepted: Map<string, string>;
  let acceptedBefore: Map<string, string>;
  let refused: Map<string, string>;
  /** The cursor of the dispatching system. */
  let cursor: number;
  /** The events that the account was given. */
  let given: Map<number, string>;

  const send = (api: Api, name: string) => api.order(account, { source_order_id: name }, { 'Idempotency-Key': name });

  beforeAll(async () => {
    // Without a pooler, like the restored database.
    primary = await startFaultyPostgres(ARCHIVE_SETTINGS, { direct: true });
    const lost = await startStack(QUEUE_KIND, { database: { ...primary, close: async () => {} } });
    const [intake, worker] = [await lost.intake(), await lost.worker()];
    account = await lost.account();
    await setEvents(primary.db, account.id, true);
    await createEndpoint(primary.db, lost.secretsKey, {
      accountId: account.id,
      url: 'http://127.0.0.1:9',
      types: null,
    });
    const { ledger, untilAccepted, stop } = startSteadyLoad(Array(4).fill((name: string) => send(intake.api, name)));
    ({ accepted, failed: refused } = ledger);
    await untilAccepted(20);
    backup = await takeBackup(primary);
    await untilAccepted(20);
    await cursorBehind(primary.knex, await confirmNext(primary.knex));
    acceptedBefore = new Map(accepted);
    await primary.knex.raw("select pg_create_restore_point('noon')");
    await untilAccepted(40);
    cursor = await cursorBehind(primary.knex, await confirmNext(primary.knex));
    await worker.close();
    given = await readFeed(intake.api, account);
    await untilAccepted(20);
    await primary.kill();
    await until('a request is rejected', async () => refused.size > 0);
    await stop();
    expect(new Set(refused.values())).toEqual(new Set(['503 storage_unavailable']));
    await lost.close();
    await backup.saveLastWal();
  });
  afterEach(() => stack.close());
  afterAll(() => primary?.close());

  test('to the end of the archive has everything accepted, finishes pending receipts and writes nothing twice', async () => {
    stack = await startStack(QUEUE_KIND, { database: await backup.restore() });
    const { knex } = stack.database;
    expect(await knex('receipts').where({ state: 'received' })).not.toEqual([]);
    const { api } = await stack.intake();
    await stack.worker();
    // A rejected order may have been stored or not. Sent again with its key, it has one receipt.
    for (const name of refused.keys()) accepted.set(name, (await send(api, name)).body.receipt_id);
    await expectSettled(stack, account, written(accepted.values()), { history: NO_FAILED_ATTEMPT });

    for (const [name, receipt_id] of [...accepted].slice(-10))
      expect(await send(api, name)).toMatchObject({ status: 202, body: { receipt_id, duplicate: true } });

    const events = await readFeed(api, account);
    expect(given.size).toBeGreaterThan(0);
    expect([...given].filter(([sequence, id]) => events.get(sequence) !== id)).toEqual([]);

    // The dispatching system continues from its cursor.
    expect(await follow(knex, cursor)).toEqual([]);
    const next = await confirmNext(knex);
    await cursorBehind(knex, next);
    expect((await follow(knex, cursor)).map((order) => order.source_order_id)).toEqual([next]);
  });

  test('to a point in time does not know later orders, and orders sent again are there once', async () => {
    stack = await startStack(QUEUE_KIND, { database: await backup.restore(['recovery_target_name=noon']) });
    const { knex } = stack.database;
    const { api } = await stack.intake();
    const before = await readFeed(api, account);
    const lastGiven = Math.max(...given.keys());
    expect(Math.max(...before.keys())).toBeLessThan(lastGiven);
    const highestId = Number((await knex('orders').max('order_id as id').first())?.id);
    expect(AFTER_RESTORE).toHaveLength(3);
    for (const sql of AFTER_RESTORE) await knex.raw(sql);
    // A reader waits for the next event at the cursor that it has, and endpoints have nothing to do.
    expect((await api.events(account, `after=${lastGiven}`)).body).toMatchObject({ events: [], more: false });
    await knex('endpoints').update({ delivered_to: Math.max(...before.keys()), is_slow: false });
    const claim = { leaseId: randomUUID(), leaseMs: 1000, isSlow: false, limit: 10, perAccount: 10, except: [] };
    expect(await claimEndpoints(stack.openDatabase(), claim)).toEqual([]);

    const stored = new Set(await knex('receipts').pluck('receipt_id'));
    expect([...acceptedBefore.values()].filter((receiptId) => !stored.has(receiptId))).toEqual([]);
    const [lastName, lastId] = [...accepted].at(-1) as [string, string];
    expect((await api.status(account, lastId)).body.code).toBe('receipt_not_found');

    // A cursor from the lost time stays valid: positions go on far behind it.
    expect(await follow(knex, cursor)).toEqual([]);
    const next = await confirmNext(knex);
    expect((await follow(knex, cursor)).map((order) => order.source_order_id)).toEqual([next]);

    await stack.worker();
    const now = new Map<string, string>();
    const names = accepted.keys();
    // Not all at once: how many there are, and how many connections the system lets wait, depends on the machine.
    const sendAgain = async () => {
      for (const name of names) now.set(name, (await send(api, name)).body.receipt_id);
    };
    await Promise.all(Array.from({ length: 20 }, sendAgain));
    for (const [name, receiptId] of acceptedBefore) expect(now.get(name)).toBe(receiptId);
    expect(now.get(lastName)).not.toBe(lastId);
    await expectSettled(stack, account, written(now.values()), { history: NO_FAILED_ATTEMPT });

    // No event and no order has a sequence or an id of a lost one.
    const events = await until('there are events of the orders that were sent again', async () => {
      const events = await readFeed(api, account);
      return Math.max(...events.keys()) > lastGiven && events;
    });
    expect([...events].filter(([sequence, id]) => (before.get(sequence) ?? id) !== id)).toEqual([]);
    const added = [...events.keys()].filter((sequence) => !before.has(sequence));
    expect(Math.min(...added)).toBeGreaterThan(lastGiven);
    const newest = await knex('orders').where('order_id', '>', highestId).orderBy('order_id').pluck('order_id');
    expect(newest[0]).toBeGreaterThan(10_000_000);
  });
});
