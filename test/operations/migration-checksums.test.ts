import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  checksumOf,
  MIGRATIONS,
  type Migration,
  migrate,
  openKnex,
  planMigrations,
  runMigrations,
  SchemaDriftError,
} from '@orders/database';
import { dropDatabase, ensureDatabase } from '@orders/test-services';
import type { Knex } from 'knex';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { compareSchemas } from '../harness/describe-schema.ts';

const CHECKSUMS = 'schema_migrations_checksums';
const SAME = { missing: [], unexpected: [] };

/** The first version on the main branch. It was edited two hours later. */
const FIRST_RESENDS: Migration = {
  name: '010-resends',
  up: `
create table resends (
  account_id integer not null,
  order_id   bigint not null,
  receipt_id uuid not null,
  -- What differs from the order as it was first sent, [{ pointer, from, to }] in normalized values; null where nothing does.
  changes    jsonb,
  decision   text check (decision in ('accepted', 'refused')),
  decided_by text,
  decided_at timestamptz,
  primary key (account_id, order_id, receipt_id)
);
`,
};

const before = (number: string) => MIGRATIONS.filter(({ name }) => name < number);
/** The migrations of the version that introduced 010 and 011. */
const FIRST_WITH_RESENDS = before('012').map((migration) =>
  migration.name === FIRST_RESENDS.name ? FIRST_RESENDS : migration,
);

let server: TestDatabase;
let fresh: Knex;
const closes: (() => Promise<unknown>)[] = [];

/** An empty database. */
async function openEmpty(): Promise<Knex> {
  const url = new URL(server.directUrl);
  url.pathname = `/checksums_${randomBytes(4).toString('hex')}`;
  await ensureDatabase(url.href);
  const knex = openKnex({ url: url.href });
  closes.push(async () => {
    await knex.destroy();
    await dropDatabase(url.href);
  });
  return knex;
}

/** A system whose migrations ran before checksums were stored. */
async function openOld(migrations: readonly Migration[]): Promise<Knex> {
  const knex = await openEmpty();
  await runMigrations(knex, migrations);
  await knex.schema.dropTable(CHECKSUMS);
  return knex;
}

const ranIn = (knex: Knex) => knex('schema_migrations').orderBy('id').pluck<string[]>('name');

beforeAll(async () => {
  server = await createTestDatabase();
  fresh = await openEmpty();
  await migrate(fresh);
});
afterAll(async () => {
  for (const close of closes.reverse()) await close();
  await server?.close();
});

test('the checksum distinguishes a list from a string and from a list with other boundaries', () => {
  const checksums = ['a;b', '["a;b"]', ['a;b'], ['a', 'b'], ['a;', 'b']].map((up) => checksumOf({ up }));
  expect(new Set(checksums).size).toBe(5);
});

test('each migration that runs stores its checksum, and a failed one stores none', async () => {
  const broken = { name: '902-broken', up: 'create table broken (id nonsense)' };
  const list = { name: '901-list', up: ['select 1', 'select 2'] };
  const knex = await openEmpty();
  await runMigrations(knex, MIGRATIONS);
  await expect(runMigrations(knex, [...MIGRATIONS, list, broken])).rejects.toMatchObject({ code: '42704' });
  expect(await knex(CHECKSUMS).orderBy('name').select('name', 'checksum')).toEqual(
    [...MIGRATIONS, list].map((migration) => ({ name: migration.name, checksum: checksumOf(migration) })),
  );
});

test('a system that ran 010 before it was edited gets the schema of a fresh one', async () => {
  const knex = await openOld(FIRST_WITH_RESENDS);
  expect(await migrate(knex)).toContain('018-erase-changes-trigger');
  expect(await compareSchemas(knex, fresh)).toEqual(SAME);
  // Its checksum is adopted because 018 corrected the difference.
  expect(await planMigrations(knex)).toEqual({ pending: [], drift: [], unknown: [] });
});

test('an existing trigger of 010 is unchanged, and the repair does not wait for writers', async () => {
  const knex = await openOld(before('018'));
  const writer = await knex.transaction();
  await writer.raw('lock table orders in row exclusive mode');
  expect(await runMigrations(knex, before('019'))).toEqual(['018-erase-changes-trigger']);
  await writer.rollback();
  await migrate(knex);
  expect(await compareSchemas(knex, fresh)).toEqual(SAME);
});

test('a migration that ran under its former name does not run again', async () => {
  const former = new Map([
    ['014-outbox-accounts', '018-outbox-accounts'],
    ['015-resends-received-at', '018b-resends-received-at'],
    ['016-dispatch-on-the-primary', '018c-dispatch-on-the-primary'],
    ['017-outbox-and-resends-indexes', '019-outbox-and-resends-indexes'],
  ]);
  const knex = await openOld(before('018').map(({ name, up }) => ({ name: former.get(name) ?? name, up })));
  const others = MIGRATIONS.slice(before('018').length).map(({ name }) => name);
  expect(others[0]).toBe('018-erase-changes-trigger');
  expect(await planMigrations(knex)).toEqual({
    pending: others.map((name) => expect.objectContaining({ name })),
    drift: [],
    unknown: [],
  });
  expect(await migrate(knex)).toEqual(others);
  expect(await compareSchemas(knex, fresh)).toEqual(SAME);
  // The version with these names still finds them, so that an upgrade can be rolled back.
  expect(await ranIn(knex)).toEqual(expect.arrayContaining([...former.keys(), ...former.values()]));
});

test('a migration that ran with different SQL is rejected, and nothing runs until it is accepted', async () => {
  const knex = await openEmpty();
  await runMigrations(knex, FIRST_WITH_RESENDS);
  const ran = await ranIn(knex);
  await expect(migrate(knex)).rejects.toThrow(new SchemaDriftError(['010-resends']));
  await expect(migrate(knex, { acceptDrift: ['011-hold-resends'] })).rejects.toBeInstanceOf(SchemaDriftError);
  expect(await ranIn(knex)).toEqual(ran);
  expect(await planMigrations(knex)).toMatchObject({
    drift: ['010-resends'],
    pending: { length: MIGRATIONS.length - 11 },
  });
  expect(await migrate(knex, { acceptDrift: ['010-resends'] })).toHaveLength(MIGRATIONS.length - 11);
  expect(await migrate(knex)).toEqual([]);
});

test('the previous version without checksums can migrate, and its migrations are adopted', async () => {
  const knex = await openEmpty();
  await migrate(knex);
  const own: Migration = { name: '901-of-the-version-before', up: 'create table of_before (id integer)' };
  const migrateBefore = (migrations: readonly Migration[]) =>
    knex.migrate.up({
      tableName: 'schema_migrations',
      disableMigrationsListValidation: true,
      migrationSource: {
        getMigrations: async () => [...migrations],
        getMigrationName: ({ name }: Migration) => name,
        getMigration: async ({ up }: Migration) => ({ up: (trx) => trx.raw(up as string), down: async () => {} }),
      },
    });
  expect((await migrateBefore(before('018')))[1]).toEqual([]);
  expect((await migrateBefore([...before('018'), own]))[1]).toEqual([own.name]);
  expect(await runMigrations(knex, [...MIGRATIONS, own])).toEqual([]);
  expect(await knex(CHECKSUMS).where({ name: own.name }).first()).toEqual({
    name: own.name,
    checksum: checksumOf(own),
  });
});
