import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { closeDatabase, openDatabase } from '@orders/database/connect.ts';
import { migrate, runMigrations } from '@orders/database/migrate.ts';
import type { Migration } from '@orders/database/migrations/index.ts';
import { dropDatabase } from '@orders/test-services/databases.ts';
import { connectionOf, openKnex } from '@orders/test-services/open-knex.ts';
import { until } from '@orders/test-services/until.ts';
import { hold, whoWait } from '../harness/barriers.ts';
import { closeAfterTest } from '../harness/close-at-end.ts';
import { expectSettled } from '../harness/settled.ts';
import { useDatabase, useStack } from '../harness/use-stack.ts';

const { db } = useDatabase();

/** Runs extra migrations after the current ones, with names that no real migration uses. */
const run = (...migrations: Migration[]) => runMigrations(db.db, migrations);

async function waitsForLock(table: string): Promise<boolean> {
  const { rows } = await db.knex.raw(
    'select 1 from pg_locks where relation = ?::regclass and not granted and mode = ?',
    [table, 'AccessExclusiveLock'],
  );
  return rows.length > 0;
}

test('a migration that does not get its lock lets waiting statements pass and retries', async () => {
  const reader = await db.knex.transaction();
  await reader('accounts').first();
  const migrating = run({ name: '901-lock', up: 'alter table accounts add column note text' });
  await until('it waits', () => waitsForLock('accounts'));
  // This insert waits behind the requested lock while the reader still runs.
  await db.knex('accounts').insert({ name: 'written while a migration waits' });
  expect(reader.isCompleted()).toBe(false);
  await until('it waits again', () => waitsForLock('accounts'));
  await reader.commit();
  expect(await migrating).toEqual(['901-lock']);
  expect(await db.knex('accounts').first()).toHaveProperty('note', null);
});

test('a migration that is ended by a deadlock retries, and the reader in the deadlock continues', async () => {
  await run({ name: '9011-tables', up: 'create table first (id integer); create table second (id integer)' });
  const reader = await db.knex.transaction();
  // The migration then detects the deadlock first and is canceled.
  await reader.raw("set local deadlock_timeout = '10min'");
  await reader('second').first();
  const up = 'alter table first add column note text; alter table second add column note text';
  const migrating = run({ name: '9012-deadlock', up });
  await until('it waits for the second', () => waitsForLock('second'));
  expect(await reader('first').first()).toBeUndefined();
  await reader.commit();
  expect(await migrating).toEqual(['9012-deadlock']);
});

test('each migration commits alone: the ones before a failed one stay and do not run again', async () => {
  const valid = { name: '902-fine', up: 'create table fine (id integer)' };
  await expect(run(valid, { name: '903-broken', up: 'create table broken (id nonsense)' })).rejects.toMatchObject({
    code: '42704',
  });
  expect(await run(valid, { name: '903-broken', up: 'create table broken (id integer)' })).toEqual(['903-broken']);
});

test('an index is created concurrently while another process waits to migrate', async () => {
  const indexed: Migration = {
    name: '904-index',
    up: ['drop index concurrently if exists by_note', 'create index concurrently by_note on accounts (note)'],
  };
  // The index waits for this transaction, which gives the other process time to start.
  const writer = await db.knex.transaction();
  await writer('accounts').insert({ name: 'writes' });
  const other = openKnex({ url: db.url, applicationName: 'the second to migrate' });
  const first = run(indexed);
  await until('the index is being created', async () => {
    const { rows } = await db.knex.raw("select 1 from pg_stat_progress_create_index where phase like 'waiting%'");
    return rows.length > 0;
  });
  const second = runMigrations(connectionOf(other), [indexed]);
  await until('the second waits for the lock', async () => {
    const { rows } = await db.knex.raw(
      "select 1 from pg_stat_activity where application_name = 'the second to migrate' and query like '%advisory%'",
    );
    return rows.length > 0;
  });
  await writer.commit();
  expect([await first, await second]).toEqual([['904-index'], []]);
  const { rows } = await db.knex.raw("select indisvalid from pg_index where indexrelid = 'by_note'::regclass");
  expect(rows).toEqual([{ indisvalid: true }]);
  await other.destroy();
});

test('a list of statements that failed in the middle runs again from the start', async () => {
  const up = ['drop index concurrently if exists twice', 'create unique index concurrently twice on accounts (note)'];
  await db.knex('accounts').update({ note: 'the same' });
  await expect(run({ name: '905-again', up })).rejects.toMatchObject({ code: '23505' });
  await db.knex('accounts').update({ note: db.knex.raw('account_id::text') });
  expect(await run({ name: '905-again', up })).toEqual(['905-again']);
});

test('a migration keeps its lock even if the server ends idle transactions', async () => {
  const limits = ['idle_in_transaction_session_timeout', 'transaction_timeout'];
  const options = limits.map((name) => `-c ${name}=1h`).join(' ');
  const url = `${db.directUrl}?options=${encodeURIComponent(options)}`;
  const database = openDatabase({ url, poolSize: 3, prepared: false });
  closeAfterTest({ close: () => closeDatabase(database) });
  const acquired = once(database.pool, 'acquire');
  const held = await hold(db.knex, 'select pg_advisory_xact_lock(906)');
  const up = ['select pg_advisory_xact_lock(906)'];
  const running = runMigrations(database, [{ name: '906-slow', up }]);
  // The first connection has the lock.
  const [lock] = await acquired;
  await whoWait(db.knex, 1, 'advisory');
  const { rows } = await lock.query('select distinct setting from pg_settings where name = any($1)', [limits]);
  await held.release();
  expect(await running).toEqual(['906-slow']);
  expect(rows).toEqual([{ setting: '0' }]);
});

test('all migrations run for a role that owns the database and is no superuser', async () => {
  const name = `plain_${randomBytes(6).toString('hex')}`;
  await db.knex.raw(`create role ${name} login password '${name}'`);
  await db.knex.raw(`create database ${name} owner ${name}`);
  const url = new URL(db.directUrl);
  Object.assign(url, { username: name, password: name, pathname: `/${name}` });
  const plain = openKnex({ url: url.href });
  expect(await migrate(connectionOf(plain))).not.toEqual([]);
  expect(await migrate(connectionOf(plain))).toEqual([]);
  await plain.destroy();
  await dropDatabase(Object.assign(new URL(db.directUrl), { pathname: `/${name}` }).href);
  await db.knex.raw(`drop role ${name}`);
});

describe('apps on an older or a later schema', () => {
  let newest: string;

  const { stack, knex, db: ofStack } = useStack();

  beforeAll(async () => {
    newest = (await knex('schema_migrations').orderBy('name', 'desc').first()).name;
  });

  const readiness = async ({ adminUrl }: { adminUrl: string }) => {
    const reply = await fetch(`${adminUrl}/health/ready`);
    return { status: reply.status, ...((await reply.json()) as { schema?: string }) };
  };

  const forget = (name: string) => knex('schema_migrations').where({ name }).delete();
  const remember = (name: string) => knex('schema_migrations').insert({ name });

  test('on a schema without its newest migration no app is ready, and each logs this in one line', async () => {
    await forget(newest);
    const [intake, worker, portal] = [await stack.intake(), await stack.worker(), await stack.portal()];
    const notifier = await stack.notifier();
    for (const app of [intake, worker, portal, notifier]) {
      expect(await readiness(app)).toMatchObject({ status: 503, ready: false, schema: 'behind: run orders migrate' });
      await until('it is logged', async () => app.log.lines.some(({ schema }) => schema));
      expect(app.log.lines.filter(({ schema }) => schema)).toEqual([
        expect.objectContaining({
          message: 'not ready: this version waits for its schema',
          schema: 'behind: run orders migrate',
        }),
      ]);
    }

    // Orders wait, because a worker on an older schema would use up the attempts of valid orders.
    const account = await stack.account();
    const { body } = await intake.api.order(account, { source_order_id: 'early' });
    expect(worker.log.text()).not.toContain('worker ready');
    expect(await knex('receipts').where({ receipt_id: body.receipt_id }).first()).toMatchObject({
      state: 'received',
      attempts: 0,
    });

    await remember(newest);
    await until('the worker ready', async () => worker.log.text().includes('worker ready'));
    for (const app of [intake, worker, portal, notifier])
      expect(await readiness(app)).toMatchObject({ status: 200, schema: 'ok' });
    await expectSettled(stack, account, { [body.receipt_id]: 'written' });
    for (const app of [intake, worker, portal, notifier]) await app.close();
  });

  test('a worker that waits for its schema drains at once', async () => {
    await forget(newest);
    const worker = await stack.worker();
    await worker.close();
    expect(worker.log.text()).not.toContain('worker ready');
    await remember(newest);
  });

  test('a schema of a later version is accepted, and migrating it changes nothing', async () => {
    await remember('999-of-a-later-version');
    const intake = await stack.intake();
    expect(await readiness(intake)).toMatchObject({ status: 200, schema: 'ok' });
    expect(await migrate(ofStack)).toEqual([]);
    await intake.close();
  });
});
