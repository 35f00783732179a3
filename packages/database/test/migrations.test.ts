import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checksumOf } from '../src/migrate.ts';
import { MIGRATIONS } from '../src/migrations/index.ts';
import { findHazards, splitStatements } from './find-hazards.ts';
import { LANDED } from './landed-migrations.ts';

/** It runs in empty databases only, so it blocks nobody. */
const SCHEMA = '001-schema';

const CHANGELOG = readFileSync(join(import.meta.dirname, '../../../CHANGELOG.md'), 'utf8');
/** Until the first release the schema is changed in its files, and nothing has to be upgraded. */
const IS_RELEASED = !CHANGELOG.includes('Nothing has been released yet');

test('a migration that has landed is not edited', () => {
  const edited = MIGRATIONS.filter(
    (migration) => migration.name in LANDED && LANDED[migration.name] !== checksumOf(migration),
  );
  if (edited.length > 0)
    throw new Error(
      `Edited after it landed: ${edited.map(({ name }) => name)}. It has run elsewhere as it was and will not run there again, ` +
        'so revert the edit and write a new migration.',
    );
  // A migration that is removed or renamed has run elsewhere as well.
  expect(Object.keys(LANDED)).toEqual(MIGRATIONS.slice(0, Object.keys(LANDED).length).map(({ name }) => name));
});

test('once there is a release, each migration is in landed-migrations.ts', () => {
  const absent = IS_RELEASED ? MIGRATIONS.filter(({ name }) => !(name in LANDED)) : [];
  expect(absent.map((migration) => `'${migration.name}': '${checksumOf(migration)}',`)).toEqual([]);
});

describe('a migration can run while the previous version serves', () => {
  const newer = MIGRATIONS.filter(({ name }) => name !== SCHEMA).map(
    (migration) => [migration.name, migration] as const,
  );

  test('migrations are in order', () => {
    const names = MIGRATIONS.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)].toSorted((a, b) => (a < b ? -1 : 1)));
  });

  if (newer.length > 0) {
    test.each(newer)('%s has only safe statements, or a reason for each other one', (_name, migration) => {
      expect(findHazards(migration)).toEqual([]);
    });
  }
});

describe('the rule rejects', () => {
  test.each([
    ['alter table orders drop column emirate', 'old name'],
    ['alter table orders rename column emirate to region', 'old name'],
    ['alter table orders rename to deliveries', 'old name'],
    ['drop table activity', 'old one'],
    ['drop view dispatchable_orders', 'old one'],
    ['alter table orders alter column total type text', 'rewrites'],
    ['alter table orders alter emirate set not null', 'not known'],
    ['ALTER TABLE orders\n  ALTER COLUMN emirate SET NOT NULL', 'strongest lock'],
    ['alter table orders add column note text not null', 'more than'],
    ['alter table orders add column mark uuid default gen_random_uuid()', 'more than'],
    ['alter table orders add column parts integer check (parts > 0)', 'more than'],
    ['alter table orders add column driver integer references drivers', 'more than'],
    ['alter table orders add column counter bigserial', 'more than'],
    ['alter table orders add column counter serial not null default 0', 'more than'],
    ['alter table orders add column twice numeric generated always as (total * 2) stored', 'more than'],
    ['alter table orders add column a text, drop column b', 'old name'],
    ['alter table orders add check (total > 0)', 'not valid'],
    ['alter table orders add constraint c check (total > 0)', 'not valid'],
    ['alter table orders add constraint c check (total > 0) not valid', 'previous version writes'],
    ['alter table orders add constraint f foreign key (account_id) references accounts', 'not valid'],
    ['alter table orders add unique (account_id, order_number)', 'not valid'],
    ['create index orders_by_area on orders (account_id, area)', 'concurrently'],
    ['create unique index on orders (account_id, area)', 'concurrently'],
    ['alter table orders validate constraint c', 'reads'],
    ['create table orders_2027 partition of orders for values from (1) to (2)', 'not known'],
    ['lock table orders', 'waits'],
    ["update orders set area = ''", 'waits'],
    ['delete from outbox', 'waits'],
    ['insert into activity (account_id) select account_id from orders', 'reads'],
    ['create trigger t after insert on orders for each row execute function f()', 'waits'],
    ['create or replace function keep_dead_letters() returns trigger language plpgsql as $$ begin; end $$', 'old one'],
    ["do $$ begin execute 'drop table orders'; end $$", 'not known'],
    ['-- safe: trust me\ndrop table activity', 'old one'],
    ['alter table orders add column a text; alter table receipts add column a text', 'deadlock'],
  ])('%s', (up, why) => {
    expect(findHazards({ up })).toEqual([expect.objectContaining({ why: expect.stringContaining(why) })]);
  });

  test.each([
    [['create index concurrently if not exists i on orders (area)'], 'not valid'],
    [['create index concurrently i on orders (area)'], 'drop it before'],
    [['create index concurrently on orders (area)'], 'name it'],
    [['drop index concurrently if exists j', 'create index concurrently i on orders (area)'], 'drop it before'],
    [['create index concurrently i on orders (area)', 'drop index concurrently if exists i'], 'drop it before'],
    [
      ['drop index concurrently if exists i', 'create unique index concurrently i on orders (area)'],
      'previous version',
    ],
    [['alter table orders add column a text'], 'run again'],
  ])('outside a transaction %j', (up, why) => {
    expect(findHazards({ up })).toEqual([expect.objectContaining({ why: expect.stringContaining(why) })]);
  });
});

describe('the rule accepts', () => {
  test.each([
    ['create table drivers (driver_id integer primary key); create index on drivers (driver_id)'],
    ['create table d (i integer); alter table d add check (i > 0)'],
    ['alter table orders add column note text'],
    ['alter table orders add column if not exists parts numeric(10, 2) not null default 0, add column b text'],
    ["alter table orders add column lane text default 'prompt' not null"],
    [
      '-- safe: no version has ever written a total below it\nalter table orders add constraint c check (total > 0) not valid',
    ],
    ['alter table orders alter column area drop not null'],
    ['alter table orders add column a text; alter table orders add column b text'],
    ["insert into lanes (name) values ('a;b'), ('c')"],
    ["create function f() returns text language sql as $$ select 'x'; select 'y' $$; comment on function f() is 'a'"],
    ['-- safe: nothing has read it since the version before the previous one\ndrop table activity'],
  ])('%s', (up) => {
    expect(findHazards({ up })).toEqual([]);
  });

  test('an index created concurrently, after dropping one that failed', () => {
    const up = ['drop index concurrently if exists i', 'create index concurrently i on orders (area)'];
    expect(findHazards({ up: [...up, 'alter table orders validate constraint c'] })).toEqual([]);
    const unique =
      '-- safe: no version has ever written two of them\ncreate unique index concurrently i on orders (area)';
    expect(findHazards({ up: ['drop index concurrently if exists i', unique] })).toEqual([]);
  });
});

test('statements end where Postgres ends them', () => {
  expect(splitStatements('a \';\' -- ;\n; $x$ ; $$ ; $x$ ";"; /* ; */ -- c\n;b')).toEqual([
    "a ';' -- ;",
    '$x$ ; $$ ; $x$ ";"',
    'b',
  ]);
});
