import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checksumOf, runMigrations, SchemaDriftError, withoutBindings } from '@orders/database/migrate.ts';
import { MIGRATIONS, type Migration } from '@orders/database/migrations/index.ts';
import { dropDatabase, ensureDatabase } from '@orders/test-services/databases.ts';
import { connectionOf, openKnex } from '@orders/test-services/open-knex.ts';
import type { Knex } from 'knex';
import { readPlan } from '../../packages/database/src/migrate.ts';
import { readSchema } from '../../packages/database/src/schema/read-schema.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { describeSchema } from '../harness/describe-schema.ts';

let server: TestDatabase;
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

const ranIn = (knex: Knex) => knex('schema_migrations').orderBy('name').pluck<string[]>('name');

beforeAll(async () => {
  server = await createTestDatabase();
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
  await runMigrations(connectionOf(knex), MIGRATIONS);
  await expect(runMigrations(connectionOf(knex), [...MIGRATIONS, list, broken])).rejects.toMatchObject({
    code: '42704',
  });
  expect(await knex('schema_migrations_checksums').orderBy('name').select('name', 'checksum')).toEqual(
    [...MIGRATIONS, list].map((migration) => ({ name: migration.name, checksum: checksumOf(migration) })),
  );
});

test('a migration that ran with different SQL is rejected, and nothing runs until it is accepted', async () => {
  const first: Migration = { name: '901-first', up: 'create table first (id integer)' };
  const edited: Migration = { name: '901-first', up: 'create table first (id bigint)' };
  const second: Migration = { name: '902-second', up: 'create table second (id integer)' };
  const knex = await openEmpty();
  await runMigrations(connectionOf(knex), [...MIGRATIONS, first]);
  const ran = await ranIn(knex);
  const later = [...MIGRATIONS, edited, second];
  await expect(runMigrations(connectionOf(knex), later)).rejects.toThrow(new SchemaDriftError(['901-first']));
  const acceptDrift = [second.name, MIGRATIONS[0]?.name as string];
  await expect(runMigrations(connectionOf(knex), later, { acceptDrift })).rejects.toBeInstanceOf(SchemaDriftError);
  expect(await ranIn(knex)).toEqual(ran);
  expect(await readPlan(connectionOf(knex), later)).toEqual({
    drift: ['901-first'],
    pending: [{ name: '902-second', transaction: true }],
    unknown: [],
  });
  expect(await runMigrations(connectionOf(knex), later, { acceptDrift: ['901-first'] })).toEqual(['902-second']);
  expect(await runMigrations(connectionOf(knex), later)).toEqual([]);
  expect(await readPlan(connectionOf(knex), MIGRATIONS)).toEqual({
    pending: [],
    drift: [],
    unknown: ['901-first', '902-second'],
  });
});

/** @returns how what migrations make differs from what the files of the schema make, but for the order of columns and the record. */
async function compareWithFiles(migrations: readonly Migration[]): Promise<string[]> {
  const [migrated, described] = [await openEmpty(), await openEmpty()];
  await runMigrations(connectionOf(migrated), migrations);
  await described.raw(withoutBindings(readSchema()));
  const [made, written] = (await Promise.all([migrated, described].map(describeSchema))).map((lines) =>
    lines.filter((line) => !line.includes('schema_migrations')).map((line) => line.replace(/ position \d+/, '')),
  ) as [string[], string[]];
  return [
    ...made.filter((line) => !written.includes(line)).map((line) => `only made by migrations: ${line}`),
    ...written.filter((line) => !made.includes(line)).map((line) => `only in the files: ${line}`),
  ];
}

test('the files of the schema are what all migrations make', async () => {
  expect(await compareWithFiles(MIGRATIONS)).toEqual([]);
});

test('the files of the schema are incomplete without what a later migration adds', async () => {
  const added: Migration = { name: '901-area', up: 'alter table accounts add column area text' };
  expect(await compareWithFiles([...MIGRATIONS, added])).toEqual([
    expect.stringMatching(/^only made by migrations: column accounts\.area /),
  ]);
});
