import { randomBytes } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { COPIED, OF_PEOPLE, REPLICATED, STAYING } from '@orders/cli/move/moved-tables.ts';
import { enableSigning } from '@orders/database/accounts/signing-secrets.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { run, SECRETS_KEY, useCli } from './run.ts';

const cli = useCli();
let there: TestDatabase;
const TO = ['--to', 'https://orders-2.example.com'];

beforeAll(async () => {
  there = await createTestDatabase({ installation: 5 });
});

const environment = (settings: Record<string, string | undefined> = {}) => ({
  DATABASE_URL: cli.url,
  TARGET_DATABASE_URL: there.url,
  SECRETS_KEY,
  ...settings,
});

async function rejected(argv: readonly string[], settings: Record<string, string | undefined> = {}): Promise<string> {
  const outcome = await run(['accounts', 'move', ...argv], environment(settings));
  expect(outcome.code).not.toBe(0);
  return outcome.stderr.trimEnd();
}

/** Of no account: what they have is of the installation, or of people. */
const OF_NO_ACCOUNT = [
  'activity_clock',
  'audit_chain',
  'audit_chain_lock',
  'dispatch_counter',
  'installation',
  'operator_changes',
  'order_ranges',
  // Only of accounts that are drained when they move.
  'outbox',
  'password_resets',
  'portal_requests',
  'schema_migrations',
  'schema_migrations_checksums',
  'schema_migrations_lock',
  'sign_in_attempts',
  'test_mode_clock',
  'unchained_audit_events',
  'unconfirmed_sign_ins',
  'user_credentials',
  'user_passkeys',
  'user_second_factors',
  'user_sessions',
  'user_verifications',
  'users',
  'workers',
];

test('each table moves, or stays for a reason', async () => {
  const { rows } = await cli.knex.raw<{ rows: { name: string; of_account: boolean }[] }>(
    `select c.relname as name, exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'account_id') as of_account
     from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  );
  const named = (of: boolean) => new Set(rows.flatMap(({ name, of_account }) => (of_account === of ? [name] : [])));
  expect(new Set([...REPLICATED, ...COPIED, ...OF_PEOPLE, ...Object.keys(STAYING)])).toEqual(named(true));
  expect(new Set(OF_NO_ACCOUNT)).toEqual(named(false));
});

test('before anything is changed, what is missing is said', async () => {
  const { account_id } = await cli.json('accounts', 'create', 'Mover');
  const id = String(account_id);
  expect(await rejected([id])).toMatch(/--to or --undo/);
  expect(await rejected([id, ...TO, '--undo'])).toMatch(/--to or --undo/);
  expect(await rejected([id, '--to', 'https://orders.example.com/ingest/orders'])).toMatch(/^--to takes an address/);
  expect(await rejected([id, ...TO], { TARGET_DATABASE_URL: undefined })).toMatch(/set TARGET_DATABASE_URL/);
  expect(await rejected([id, ...TO], { TARGET_DATABASE_URL: cli.url })).toMatch(/only to one with a higher/);
  expect(await rejected([id, ...TO], { DATABASE_URL: there.url })).toMatch(/^No account has the id/);
  expect(await rejected([id, '--undo'])).toBe('This account is not being moved.');
  if ((await cli.knex.raw('show wal_level')).rows[0].wal_level !== 'logical')
    expect(await rejected([id, ...TO])).toMatch(/^Set wal_level = logical/);
  await there.knex.raw("insert into accounts (account_id, name) overriding system value values (?, 'Taken')", [
    account_id,
  ]);
  expect(await rejected([id, ...TO])).toBe(`The other installation has an account ${id} already.`);
  expect(await cli.knex('account_moves')).toEqual([]);
  expect(await cli.json('accounts', 'show', id)).toMatchObject({ state: 'active' });
});

test('secrets that the other installation could not open do not move', async () => {
  const { account_id } = await cli.json('accounts', 'create', 'Sealed');
  await enableSigning(cli.db, randomBytes(32), account_id);
  const id = String(account_id);
  expect(await rejected([id, ...TO])).toMatch(/^SECRETS_KEY does not open/);
  const known = await cli.json('accounts', 'create', 'Unknown there');
  await cli.json('signing', 'enable', String(known.account_id));
  expect(await rejected([String(known.account_id), ...TO])).toMatch(/^Nothing shows whether the other installation/);
});
