import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MIGRATIONS } from '@orders/database/migrations/index.ts';
import { dropDatabase, ensureDatabase } from '@orders/test-services/databases.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { run, useCli } from './run.ts';

const cli = useCli();
let empty: string;

beforeAll(async () => {
  const url = new URL(cli.url);
  url.pathname += '_empty';
  empty = url.href;
  await ensureDatabase(empty);
});
afterAll(async () => {
  if (empty) await dropDatabase(empty);
});

test('--plan prints what would run, and changes nothing', async () => {
  const env = { DATABASE_URL: empty };
  const { stdout } = await run(['migrate', '--plan', '--json'], env);
  const pending = MIGRATIONS.map(({ name, up }) => ({ name, transaction: typeof up === 'string' }));
  expect(JSON.parse(stdout)).toEqual({ pending, drift: [], unknown: [] });
  expect((await run(['migrate', '--plan'], env)).stdout).toBe(
    'Migrations that would run, in this order:\n  001-schema (in a transaction)\n',
  );
  expect(await run(['accounts', 'list'], env)).toMatchObject({ code: 1, stderr: expect.stringContaining('42P01') });
});

test('before: a command says to migrate; then it runs, and again finds nothing to do', async () => {
  const env = { DATABASE_URL: empty };
  expect(await run(['accounts', 'list'], env)).toEqual({
    code: 1,
    stdout: '',
    stderr: 'The schema is missing or out of date (42P01): run orders migrate.\n',
  });
  const first = await run(['migrate', '--json'], env);
  expect(JSON.parse(first.stdout)).toEqual({
    migrations: MIGRATIONS.map(({ name }) => name),
    queue: 'not_configured',
    roles: 'none',
  });
  const second = await run(['migrate'], env);
  expect(second).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^The schema was up to date\.\nQUEUE_URL is not/),
  });
  expect(await run(['accounts', 'list'], env)).toMatchObject({ code: 0, stdout: 'There are no accounts.\n' });
});

test('the queue is migrated too, where it is on Postgres', async () => {
  const { stdout } = await run(['migrate', '--json'], { DATABASE_URL: empty, QUEUE_URL: empty });
  expect(JSON.parse(stdout)).toEqual({ migrations: [], queue: 'migrated', roles: 'none' });
  const redis = await run(['migrate', '--json'], { DATABASE_URL: empty, QUEUE_URL: 'redis://127.0.0.1:1' });
  expect(JSON.parse(redis.stdout)).toEqual({ migrations: [], queue: 'not_needed', roles: 'none' });
});

test('a queue that cannot be reached fails in one line', async () => {
  const QUEUE_URL = `postgres://me:passw0rd@127.0.0.1:${await freePort()}/queue`;
  const { code, stderr } = await run(['migrate'], { DATABASE_URL: empty, QUEUE_URL });
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^The queue of QUEUE_URL could not be prepared \(ECONNREFUSED\)/),
  ]);
});

test('a migration that ran with different SQL is named, refused in one line, and accepted by its name', async () => {
  await cli.knex('schema_migrations_checksums').where({ name: '001-schema' }).update({ checksum: 'another' });
  const drift = 'Ran with different SQL than this version has, so orders migrate runs nothing: 001-schema.\n';
  expect(await cli.run('migrate', '--plan')).toMatchObject({ code: 0, stdout: expect.stringContaining(drift) });
  expect(await cli.json('migrate', '--plan')).toMatchObject({ drift: ['001-schema'], pending: [] });
  expect(await cli.refused(1, 'migrate')).toMatch(
    /^Nothing was run: 001-schema ran here with different SQL .*"Schema drift"\), then: orders migrate --accept-drift 001-schema$/,
  );
  expect(await cli.refused(2, 'migrate', '--accept-drift', 'nonsense')).toMatch(
    /^--accept-drift takes a migration that ran/,
  );
  expect(await cli.refused(2, 'migrate', '--plan', '--accept-drift', '001-schema')).toMatch(/cannot be used with/);
  expect(await cli.json('migrate', '--accept-drift', '001-schema')).toMatchObject({ migrations: [] });
  expect(await cli.run('migrate', '--plan')).toMatchObject({ code: 0, stdout: 'No migration would run.\n' });
  expect(await cli.refused(2, 'migrate', '--accept-drift', '001-schema')).toMatch(/^--accept-drift takes a migration/);
});

test('--plan names what a later version ran', async () => {
  await cli.knex('schema_migrations').insert({ name: '999-later' });
  expect(await cli.json('migrate', '--plan')).toEqual({ pending: [], drift: [], unknown: ['999-later'] });
  expect((await cli.run('migrate', '--plan')).stdout).toContain('Of a later version, left as they are: 999-later.');
  expect(await cli.json('migrate')).toMatchObject({ migrations: [] });
});
