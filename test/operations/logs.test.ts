import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import { poisonOrders } from '../harness/damage-body.ts';
import { createPerson, signIn } from '../harness/people.ts';
import { QUEUE_KIND } from '../harness/queue.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, intake, api, worker, portal, account } = useStack({
  queue: QUEUE_KIND,
  intake: true,
  worker: { RETRY_ATTEMPTS: '1' },
  portal: true,
  account: true,
});

const levelOf = async (adminUrl: string) =>
  (await (await fetch(`${adminUrl}/log-level`)).json()) as { level: string; until?: string };
const change = async (adminUrl: string, body: string, query = '') => {
  const reply = await fetch(`${adminUrl}/log-level${query}`, { method: 'PUT', body });
  return { status: reply.status, text: await reply.text() };
};

test('the log level of each app changes at runtime, permanently or for a limited time', async () => {
  const notifier = await stack.notifier();
  for (const { adminUrl, log } of [intake, worker, portal, notifier]) {
    expect(await levelOf(adminUrl)).toEqual({ level: 'debug' });
    expect(await change(adminUrl, 'warn\n')).toEqual({ status: 200, text: '{"level":"warn"}' });
    expect(await levelOf(adminUrl)).toEqual({ level: 'warn' });

    await change(adminUrl, 'error');
    const { status, text } = await change(adminUrl, 'info', '?for=100ms');
    expect([status, JSON.parse(text)]).toEqual([200, { level: 'info', until: expect.stringMatching(/Z$/) }]);
    await until('the original level is restored', async () => (await levelOf(adminUrl)).level === 'debug');
    expect(await levelOf(adminUrl)).toEqual({ level: 'debug' });
    const changes = log.lines.filter(({ message }) => message === 'log level changed');
    expect(changes.map(({ was, now }) => [was, now])).toEqual([
      ['debug', 'warn'],
      ['warn', 'error'],
      ['error', 'info'],
      ['info', 'debug'],
    ]);
  }
});

test('a later change replaces a temporary one', async () => {
  const { adminUrl } = portal;
  await change(adminUrl, 'error', '?for=200ms');
  await change(adminUrl, 'warn', '?for=24h');
  // In the same process and later, so it expires after the first change.
  await change(worker.adminUrl, 'error', '?for=200ms');
  await until('a later change has expired', async () => (await levelOf(worker.adminUrl)).level === 'debug');
  expect(await levelOf(adminUrl)).toEqual({ level: 'warn', until: expect.any(String) });
  await change(adminUrl, 'debug');
  expect(await levelOf(adminUrl)).toEqual({ level: 'debug' });
});

test.each([
  ['', '', 'the body is one of error, warn, info, debug\n'],
  ['silly', '', 'the body is one of error, warn, info, debug\n'],
  ['x'.repeat(100_000), '', 'the body is one of error, warn, info, debug\n'],
  ['warn', '?for=soon', 'for is a time span such as 10m, at most 24h\n'],
  ['warn', '?for=25h', 'for is a time span such as 10m, at most 24h\n'],
])('an invalid level or time is rejected and changes nothing: %#', async (body, query, says) => {
  const { adminUrl } = worker;
  expect(await change(adminUrl, body, query)).toEqual({ status: 400, text: says });
  expect(await levelOf(adminUrl)).toEqual({ level: 'debug' });
  expect((await fetch(`${adminUrl}/log-level`, { method: 'DELETE' })).status).toBe(405);
});

test('the log contains lines of the current level and above', async () => {
  const written = () => worker.log.lines.filter(({ message }) => message === 'receipt written').length;
  const write = async (name: string) => {
    expect(await api.process(account, { source_order_id: name })).toMatchObject({ status: 'written' });
  };
  await write('told');
  await until('the line is there', async () => written() === 1);
  await change(worker.adminUrl, 'info');
  await write('untold');
  await change(worker.adminUrl, 'debug');
  await write('told again');
  await until('the line is there', async () => written() === 2);
  expect(worker.log.text()).not.toContain('untold');
});

test('the lines about one order are found by its request id and its receipt id', async () => {
  await poisonOrders(knex);
  const headers = { 'X-Request-Id': 'followed-1', 'Idempotency-Key': 'followed' };
  const order = { source_order_id: 'followed', order_number: 'poison' };
  const { body } = await api.order(account, order, headers);
  const receipt_id = body.receipt_id as string;
  expect((await api.final(account, receipt_id)).body.status).toBe('dead');
  await api.order(account, { ...order, total: 1 }, { ...headers, 'X-Request-Id': 'followed-2' });

  const lines = await until('all of them are there', async () => {
    const all = [...intake.log.lines, ...worker.log.lines].filter((line) => line.receipt_id === receipt_id);
    return all.length >= 5 && all;
  });
  const summary = lines.map(({ service, message, request_id }) => [service, message, request_id]);
  expect(summary).toEqual([
    ['intake', 'request completed', 'followed-1'],
    ['intake', 'request completed', expect.any(String)],
    ['intake', 'idempotency key repeated with another payload', 'followed-2'],
    ['intake', 'request completed', 'followed-2'],
    ['worker', 'receipt dead', undefined],
  ]);
  for (const { service, account_id } of lines) expect(account_id).toBe(service === 'intake' ? account.id : undefined);
});

test('the line of a failed request names the receipt that may be stored nevertheless', async () => {
  const { api, log } = await stack.intake();
  const locked = await knex.transaction();
  await locked.raw('lock table outbox in access exclusive mode');
  const sent = api.order(account, { source_order_id: 'unknown' }, { 'X-Request-Id': 'unknown-1' });
  try {
    await until('the order is being recorded', async () => {
      const { rows } = await knex.raw(`
      select pg_terminate_backend(pid) from pg_locks join pg_stat_activity using (pid)
      where relation = 'outbox'::regclass and not granted and application_name = 'orders intake'`);
      return rows.length > 0;
    });
  } finally {
    await locked.rollback();
  }
  expect((await sent).status).toBe(503);
  const lines = await until('both lines are there', async () => {
    const found = log.lines.filter(({ request_id }) => request_id === 'unknown-1');
    return found.length === 2 && found;
  });
  const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/);
  expect(lines).toEqual([
    expect.objectContaining({ message: 'request failed', receipt_id: uuid, code: 'storage_unavailable' }),
    expect.objectContaining({ message: 'request rejected', receipt_id: uuid, status: 503 }),
  ]);
});

test('a log line of the portal names the viewed receipt and the user', async () => {
  const { body } = await api.order(account, { source_order_id: 'looked at' });
  const client = await signIn(portal, await createPerson(stack, account.id));
  const { headers } = await client.get(`/accounts/${account.id}/receipts/${body.receipt_id}`);
  const line = await until('the line is there', async () =>
    portal.log.lines.find(({ request_id }) => request_id === headers['x-request-id']),
  );
  expect(line).toMatchObject({
    message: 'request completed',
    receipt_id: body.receipt_id,
    account_id: account.id,
    user_id: expect.any(String),
  });
});

const ROOT = resolve(import.meta.dirname, '../..');
const PAGE = readFileSync(resolve(ROOT, 'docs/operating/logs.md'), 'utf8');
const SOURCE = globSync('{apps/{intake,worker,portal,notifier},packages/{runtime,database,queue,http}}/src/**/*.ts', {
  cwd: ROOT,
})
  .map((path) => readFileSync(resolve(ROOT, path), 'utf8'))
  .join('\n');

test('docs/operating/logs.md names each warning and error that an app logs', () => {
  const logged = [...SOURCE.matchAll(/logger\.(?:warn|error)\(\s*'([^']+)'/g)].map(([, message]) => message as string);
  const outages = [...SOURCE.matchAll(/createOutageLog\(logger, '([^']+)'/g)].map(
    ([, service]) => `${service} unavailable;`,
  );
  const failures = [...SOURCE.matchAll(/createFailureLog\(database, logger, '([^']+)'/g)].flatMap(([, work]) => [
    `${work} failed;`,
    'Postgres unavailable;',
  ]);
  expect(failures).toContain('batch failed;');
  expect(logged).toContain('maintenance step failed');
  expect(outages).toContain('queue unavailable;');
  expect([...logged, ...outages, ...failures].filter((message) => !PAGE.includes(`\`${message}`))).toEqual([]);
});
