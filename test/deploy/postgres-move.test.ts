import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { reviewOrders } from '@orders/database/orders/review-orders.ts';
import { createPartitions } from '@orders/database/partitions/create-partitions.ts';
import { until } from '@orders/test-services/until.ts';
import type { Knex } from 'knex';
import { type FaultyPostgres, startFaultyPostgres } from '../harness/faulty-postgres.ts';
import { blocksUnder } from '../harness/markdown-blocks.ts';
import { dispatch, extendUndo } from '../harness/review-list.ts';
import { startStack } from '../harness/stack.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/operating/postgres-upgrade.md'), 'utf8');

/** Removed from the page's list, as `orders migrate` fills them on the new server. */
const NOT_COPIED = /^schema_migrations/;

async function countRows(knex: Knex): Promise<Record<string, number>> {
  const { rows } = await knex.raw<{ rows: { relname: string }[] }>(
    `select relname from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relpersistence = 'p' order by relname`,
  );
  const counts: Record<string, number> = {};
  for (const { relname } of rows) {
    if (NOT_COPIED.test(relname)) continue;
    counts[relname] = Number((await knex(relname).count('* as count'))[0]?.count);
  }
  return counts;
}

const numberOf = async (knex: Knex, sql: string) => Number(Object.values((await knex.raw(sql)).rows[0])[0]);

test('the service moves to another Postgres by the statements of the page, and nothing is lost', async () => {
  const [before, after] = await Promise.all([
    startFaultyPostgres(['fsync=off', 'wal_level=logical'], { direct: true }),
    startFaultyPostgres(['fsync=off'], { direct: true }),
  ]);
  const [, empty, partitions, publish, subscribe, copying, behind, sequences, ...others] = blocksUnder(
    PAGE,
    'To another Postgres, by logical replication',
    'sql',
  ) as [string, string, string, string, string, string, string, string];
  expect(others).toEqual([]);
  const open = async (postgres: FaultyPostgres) => {
    const stack = await startStack('postgres', { database: { ...postgres, close: () => postgres.close() } });
    return { stack, intake: await stack.intake() };
  };

  const old = await open(before);
  const worker = await old.stack.worker();
  const account = await old.stack.account();
  const send = async ({ intake }: Awaited<ReturnType<typeof open>>, name: string) => {
    const { status, body } = await intake.api.order(account, { source_order_id: name });
    expect(status).toBe(202);
    return body.receipt_id as string;
  };
  for (const name of ['written', 'dispatched', 'undoable', 'written'])
    await old.intake.api.final(account, await send(old, name));
  const confirm = async (source_order_id: string): Promise<number> => {
    const { order_id } = await before.knex('orders').where({ source_order_id }).first();
    const confirmation = { accountId: account.id, orderIds: [order_id], to: 'confirmed', by: 'somebody' } as const;
    expect(await reviewOrders(before.db, confirmation)).toMatchObject({ changed: [order_id] });
    return order_id;
  };
  const dispatchedId = await confirm('dispatched');
  await dispatch(before.knex, dispatchedId);
  const undoableId = await confirm('undoable');
  await extendUndo(before.knex, [undoableId]);

  const runPrinted = async (statement: string) => {
    const { rows } = await before.knex.raw<{ rows: { format: string }[] }>(statement);
    for (const { format } of rows) await after.knex.raw(format);
  };
  for (let month = 0; month < 3; month += 1) {
    await before.knex.raw("update order_ranges set began_at = began_at - interval '2 months'");
    await createPartitions(before.db);
  }
  await old.intake.api.final(account, await send(old, 'months later'));

  await after.knex.raw(empty);
  await runPrinted(partitions);
  await before.knex.raw(publish);
  const fromPage = /'postgres:\/\/[^']+'/;
  expect(subscribe).toMatch(fromPage);
  await after.knex.raw(subscribe.replace(fromPage, `'${before.directUrl}'`));
  await until('all tables are copied', async () => (await numberOf(after.knex, copying)) === 0);
  // Changed while it is copied.
  await old.intake.api.final(account, await send(old, 'later'));
  await worker.close();
  const waiting = await send(old, 'waiting');
  await old.intake.close();

  await until('the new server has all', async () => (await numberOf(before.knex, behind)) === 0);
  expect(await countRows(after.knex)).toEqual(await countRows(before.knex));
  await runPrinted(sequences);
  await after.knex.raw('drop subscription orders');
  await old.stack.close();

  const moved = await open(after);
  await moved.stack.worker();
  expect((await moved.intake.api.final(account, waiting)).body).toMatchObject({ status: 'written' });
  const { body } = await moved.intake.api.final(account, await send(moved, 'after the move'));
  expect(body.status).toBe('written');
  expect(body.order_id).toBeGreaterThan(dispatchedId + 10_000);
  expect((await moved.intake.api.final(account, await send(moved, 'written'))).body.status).toBe('duplicate');
  const shown = () => after.knex('dispatchable_orders').orderBy('position').select('position', 'source_order_id');
  expect(await shown()).toEqual([{ position: 1, source_order_id: 'dispatched' }]);
  await dispatch(after.knex, undoableId);
  expect(await shown()).toEqual([
    { position: 1, source_order_id: 'dispatched' },
    { position: 2, source_order_id: 'undoable' },
  ]);
});
