import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { dropDatabase, ensureDatabase, freePort } from '@orders/local-services';
import { run, useCli } from './run.ts';

const cli = useCli();
let empty: string;

beforeAll(async () => {
  const url = new URL(cli.url);
  url.pathname += '_empty';
  empty = url.href;
  await ensureDatabase(empty);
});
afterAll(() => dropDatabase(empty));

test('before: a command says to migrate; then it runs, and again finds nothing to do', async () => {
  const env = { DATABASE_URL: empty };
  expect(await run(['accounts', 'list'], env)).toEqual({
    code: 1,
    stdout: '',
    stderr: 'The schema is missing or out of date (42P01): run orders migrate.\n',
  });
  const first = await run(['migrate', '--json'], env);
  expect(JSON.parse(first.stdout)).toEqual({
    migrations: expect.arrayContaining(['001-initial']),
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
