import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { freePort } from '@orders/test-services/ports.ts';
import { readConfig } from '../../apps/cli/src/config.ts';
import { readSenderConfig } from '../../apps/cli/src/sender-config.ts';
import { makeDirectory } from '../harness/directory.ts';
import { run, SECRETS_KEY, useCli } from './run.ts';

const cli = useCli();
const local = makeDirectory();

/** Writes the files of `npm start`. */
async function leave(databaseUrl: string): Promise<void> {
  await writeFile(
    join(local, 'dev.json'),
    JSON.stringify({ databaseUrl, queueUrl: 'redis://127.0.0.1:1', portalUrl: 'http://127.0.0.1:1234' }),
  );
  await writeFile(join(local, 'secrets.json'), JSON.stringify({ secretsKey: SECRETS_KEY, postgresPassword: 'x' }));
}

async function unreachable(): Promise<string> {
  return `postgres://orders:passw0rd@127.0.0.1:${await freePort()}/orders`;
}

test('without configuration: one line that says what to do', async () => {
  expect(await run(['accounts', 'list'], {})).toEqual({
    code: 2,
    stdout: '',
    stderr: 'Configuration: set DATABASE_URL, or run npm start first.\n',
  });
  expect(await run(['migrate'], { NODE_ENV: 'production' })).toMatchObject({
    code: 2,
    stderr: 'Configuration: set DATABASE_URL.\n',
  });
});

test('values that are wrong are named, not repeated', async () => {
  const { code, stderr } = await run(['accounts', 'list'], { DATABASE_URL: 'mysql://me:secret@host' });
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^Configuration: DATABASE_URL must be/)]);
  expect(stderr).not.toContain('secret');
});

test('the example of an address is shown as it is', async () => {
  const file = join(local, 'one.ndjson');
  await writeFile(file, '{}');
  expect(await run(['send', file, '--url', 'here'], {})).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/such as https?:\/\//),
  });
});

test('in development the files of npm start are used, silently', async () => {
  await leave(cli.url);
  const { code, stdout } = await run(['accounts', 'create', 'Local', '--json'], {}, local);
  expect(code).toBe(0);
  const { account_id } = JSON.parse(stdout);
  const enable = ['signing', 'enable', String(account_id)];
  expect(await run(enable, {}, local)).toMatchObject({ code: 0 });
  // The address of the same database, to which the secrets key belongs.
  expect(await run(enable, { DATABASE_URL: cli.url }, local)).toMatchObject({ code: 0 });
  const invite = await run(['users', 'invite', 'a@example.com', '--operator'], {}, local);
  expect(invite.stdout).toMatch(/^link +http:\/\/127\.0\.0\.1:1234\/invitation#/);
  expect(await run(['signing', 'show', String(account_id)], { NODE_ENV: 'production' }, local)).toMatchObject({
    code: 2,
  });
});

test('in development endpoints may be on this machine', async () => {
  await leave(cli.url);
  const created = await run(['accounts', 'create', 'Receiver', '--json'], {}, local);
  const id = String(JSON.parse(created.stdout).account_id);
  await run(['events', 'enable', id], {}, local);
  const create = ['endpoints', 'create', id, 'http://localhost:8090/events'];
  expect(await run(create, {}, local)).toMatchObject({ code: 0 });
  expect(await run(create, { CALLBACK_ALLOW: 'localhost' }, local)).toMatchObject({ code: 2 });
  expect(await run(create, { NODE_ENV: 'production', DATABASE_URL: cli.url, SECRETS_KEY }, local)).toMatchObject({
    code: 2,
  });
});

test("a sender's key of npm start is taken with its address, and never sent to another one", async () => {
  const intakeUrl = `http://127.0.0.1:${await freePort()}`;
  await writeFile(
    join(local, 'dev.json'),
    JSON.stringify({ intakeUrl, accounts: [{ apiKey: 'oik_local', signingSecret: null }] }),
  );
  expect(await readSenderConfig({}, undefined, local)).toMatchObject({ url: intakeUrl, apiKey: 'oik_local' });
  expect(await readSenderConfig({ ORDERS_API_KEY: 'oik_own' }, undefined, local)).toMatchObject({ apiKey: 'oik_own' });
  expect(await readSenderConfig({ LOCAL_DIRECTORY: local }, undefined)).toMatchObject({ apiKey: 'oik_local' });
  await expect(readSenderConfig({}, 'https://orders.example.com/', local)).rejects.toThrow('set ORDERS_API_KEY');
  await expect(readSenderConfig({ NODE_ENV: 'production' }, undefined, local)).rejects.toThrow('set ORDERS_URL');
  await expect(readSenderConfig({ ORDERS_URL: 'https://me:secret@host' }, undefined, local)).rejects.toThrow(
    /^(?!.*secret).*ORDERS_URL must be an address/,
  );
  const withRoute = readSenderConfig({}, 'https://orders.example.com/api/ingest/orders', local);
  await expect(withRoute).rejects.toThrow('without a user, query, hash or route such as /ingest/orders');
});

test('the secrets key of npm start is never used on another database', async () => {
  await leave(await unreachable());
  const { code, stderr } = await run(['signing', 'enable', '1'], { DATABASE_URL: cli.url }, local);
  expect([code, stderr]).toEqual([2, expect.stringContaining('set SECRETS_KEY')]);
});

test('endpoints on this machine are allowed only with the database of npm start', async () => {
  await leave(await unreachable());
  const allowed = async (env: NodeJS.ProcessEnv) => (await readConfig(env, local)).CALLBACK_ALLOW;
  expect(await allowed({})).toEqual(['127.0.0.1:*', 'localhost:*', '[::1]:*']);
  expect(await allowed({ CALLBACK_ALLOW: 'hooks.internal:8443' })).toEqual(['hooks.internal:8443']);
  expect(await allowed({ DATABASE_URL: cli.url })).toEqual([]);
  expect(await allowed({ DATABASE_URL: cli.url, CALLBACK_ALLOW: '10.1.2.3,[::1]' })).toEqual(['10.1.2.3', '[::1]']);
});

test('a database of npm start that has stopped: run npm start', async () => {
  await leave(await unreachable());
  expect(await run(['orders', 'list'], {}, local)).toEqual({
    code: 1,
    stdout: '',
    stderr: 'The database of npm start is unreachable (ECONNREFUSED): run npm start.\n',
  });
});

test('incomplete files of npm start are ignored', async () => {
  await writeFile(join(local, 'dev.json'), '{"databaseUrl":');
  expect(await run(['orders', 'list'], {}, local)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('npm start'),
  });
});

test('a database that is unreachable or refuses the connection: one line, without the address', async () => {
  // Bypasses a pooler, which has error codes of its own.
  const wrongPassword = new URL(cli.directUrl);
  wrongPassword.password = 'passw0rd';
  const noDatabase = new URL(cli.directUrl);
  noDatabase.pathname = '/nowhere';
  const cases = [
    [await unreachable(), /\(ECONNREFUSED\): check that it runs/],
    [wrongPassword.href, /\(28P01\): it rejects this role or password/],
    [noDatabase.href, /\(3D000\): it has no such database/],
    ['postgres://me:passw0rd@no-such-host.invalid/orders', /\(E\w+\): check that it runs/],
  ] as const;
  for (const [DATABASE_URL, line] of cases) {
    const { code, stderr } = await run(['accounts', 'list'], { DATABASE_URL });
    expect([code, stderr]).toEqual([1, expect.stringMatching(line)]);
    expect(stderr).not.toMatch(/passw0rd|127\.0\.0\.1|invalid/);
  }
});
