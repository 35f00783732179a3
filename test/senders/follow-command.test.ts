import { createServer } from 'node:http';
import { expect, test } from '@jest/globals';
import { reviewOrders } from '@orders/database/orders/review-orders.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import { listen } from '../harness/listen.ts';
import { envOf, spawnCommand, startCommand } from '../harness/run-command.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, db, api, account } = useStack({
  intake: { BASE_PATH: '/api' },
  worker: true,
  account: 'each test',
  events: true,
});

/** Starts `orders events follow` in this process. */
const follow = (args: string[] = [], env: object = {}) =>
  startCommand(['events', 'follow', ...args], { ...envOf({ ...account, url: api.url }), ...env });

/** Starts it in a process of its own, as a user does. */
const startProcess = (...args: string[]) =>
  spawnCommand(['events', 'follow', ...args], envOf({ ...account, url: api.url }));

let orders = 0;

async function write(fields: object = {}): Promise<{ id: string; orderId: number }> {
  const id = `follow-${++orders}`;
  const { body } = await api.order(account, { source_order_id: id, ...fields }, { Prefer: 'wait=30' });
  return { id, orderId: body.order_id };
}

test('events are printed as they happen, one line each, until Ctrl-C', async () => {
  const first = await write({ customer: { phone: '12' } });
  const following = follow();
  await following.lines(1);
  const { id, orderId } = await write({ address: 'Villa 1' });
  await following.lines(2);
  await api.order(account, { source_order_id: id, address: 'Villa 2' }, { Prefer: 'wait=30' });
  await following.lines(3);
  await api.cancel(account, { source_order_id: id, reason: 'sold\nout \u202e' });
  await following.lines(4);
  await api.order(account, { source_order_id: 'x' }, { 'Idempotency-Key': 'constant' });
  await following.lines(5);
  await api.order(account, { source_order_id: 'y' }, { 'Idempotency-Key': 'constant' });
  const lines = await following.lines(6);
  following.interrupt();
  expect(await following.ended()).toMatchObject({ code: 0, stderr: 'Continue with --after 6.\n' });
  const fields = lines.map((line) => line.split(/ {2,}/));
  for (const [, time] of fields) expect(time).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ$/);
  const uuid = '[0-9a-f-]{36}';
  expect(fields.map(([sequence, , ...rest]) => [sequence, ...rest])).toEqual([
    ['1', 'receipt.written', first.id, `order ${first.orderId}`, '1 warning'],
    ['2', 'receipt.written', id, `order ${orderId}`],
    ['3', 'receipt.duplicate', id, `order ${orderId}`, expect.stringMatching(`^of ${uuid}$`), 'changed /address'],
    ['4', 'order.cancelled', id, `order ${orderId}`, '"sold\\nout \\u202e"'],
    ['5', 'receipt.written', 'x', expect.stringMatching(/^order \d+$/)],
    ['6', 'receipt.dead', 'y', expect.stringMatching(`^receipt ${uuid}$`), 'idempotency_key_reused'],
  ]);
});

test('--json prints the events of the API, and --after continues after one', async () => {
  const { orderId } = await write();
  await write();
  const reviewed = {
    accountId: account.id,
    orderIds: [orderId],
    to: 'rejected',
    by: 'a reviewer',
    reason: 'ü',
  } as const;
  await reviewOrders(db, reviewed);
  const { events } = await until('three events', async () => {
    const { body } = await api.events(account);
    return body.events.length === 3 && body;
  });
  const all = follow(['--json']);
  expect((await all.lines(3)).map((line) => JSON.parse(line))).toEqual(events);
  const last = follow(['--json', '--after', '2']);
  expect((await last.lines(1)).map((line) => JSON.parse(line))).toEqual(events.slice(2));
  for (const following of [all, last]) following.interrupt();
  await Promise.all([all.ended(), last.ended()]);
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s ends a process with the exit code 0', async (signal) => {
  await write();
  const { child, lines, ended } = startProcess('--json');
  const [line] = await lines(1);
  child.kill(signal);
  expect(await ended).toMatchObject({ code: 0, stderr: 'Continue with --after 1.\n' });
  expect(JSON.parse(line as string)).toMatchObject({ data: { sequence: 1 } });
});

test('a process ends when its reader has closed the pipe', async () => {
  await write();
  const { child, lines, ended } = startProcess();
  await lines(1);
  child.stdout.destroy();
  await write();
  expect(await ended).toMatchObject({ code: 0 });
});

test('an outage is waited out, with a line about it, and no event is missed or repeated', async () => {
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}/api`;
  const other = await stack.intake({ BASE_PATH: '/api', PORT: port });
  await write();
  const following = follow(['--json', '--url', url]);
  await following.lines(1);
  await other.close();
  await until('it waits', async () => /Waits \d+ s: no connection/.test(following.printed.stderr));
  await write();
  await stack.intake({ BASE_PATH: '/api', PORT: port });
  await following.lines(2);
  await write();
  const lines = await following.lines(3);
  expect(lines.map((line) => JSON.parse(line).data.sequence)).toEqual([1, 2, 3]);
  following.interrupt();
  expect(await following.ended()).toMatchObject({ code: 0 });
});

test('a service that stays away ends the command after --give-up-after, with the cursor', async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const { code, stdout, stderr } = await follow(['--after', '7', '--give-up-after', '1s', '--url', url]).ended();
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(
    /^(Waits \d s: .*\n)+No request has succeeded for \d s: no connection \(ECONNREFUSED\)\. Continue with --after 7\.\n$/,
  );
});

test.each(['an event', 'the service'])('Ctrl-C ends the command while it waits for %s', async (what) => {
  await write();
  let requests = 0;
  // After its first reply, a service that never replies.
  const server = createServer(async ({ url, headers }, response) => {
    requests += 1;
    if (requests > 1) return;
    const reply = await fetch(`${api.url}${url}`, {
      headers: { Authorization: headers.authorization as string },
    });
    response.writeHead(reply.status, { 'Content-Type': 'application/json' }).end(await reply.text());
  });
  const { url, close } = await listen(server);
  if (what === 'the service') await close();
  const following = follow(['--url', url]);
  const { printed } = following;
  await until('it waits', async () => (what === 'an event' ? requests === 2 : printed.stderr !== ''));
  following.interrupt();
  expect(await following.ended()).toMatchObject({ code: 0 });
});

test.each<[string, string[], object, number, string]>([
  ['disabled events', [], {}, 1, 'The service rejects all requests (409 events_disabled): Events are not enabled'],
  ['an expired cursor', ['--after', '1'], {}, 1, 'Events after this cursor are no longer stored (410 cursor_expired).'],
  ['an unknown cursor', ['--after', '3'], {}, 1, 'The service rejects all requests (400 invalid_query): "after" is a'],
  ['a wrong key', [], { ORDERS_API_KEY: `oik_${'x'.repeat(49)}` }, 1, '(401 invalid_api_key)'],
  ['no key', [], { ORDERS_API_KEY: undefined }, 2, 'Configuration: set ORDERS_API_KEY'],
  ['a cursor that is none', ['--after', 'evt_1'], {}, 2, '--after takes the sequence of an event.'],
])('%s is one line and an exit code', async (what, args, env, code, line) => {
  await knex('event_logs')
    .where({ account_id: account.id })
    .update({ last_sequence: 2, removed_to: 2, is_enabled: what !== 'disabled events' });
  const outcome = await follow(args, env).ended();
  expect(outcome).toEqual({ code, stdout: '', stderr: expect.stringMatching(/^[^\n]+\n$/) });
  expect(outcome.stderr).toContain(line);
  expect(outcome.stderr).not.toMatch(/oik_\w/);
});
