import { createServer } from 'node:http';
import { expect, test } from '@jest/globals';
import { type EventHeaders, type OrdersEvent, verifyEvent } from '@orders/client';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import { subscribe } from '../harness/event-receiver.ts';
import { listen as listenOn } from '../harness/listen.ts';
import { envOf, spawnCommand, startCommand } from '../harness/run-command.ts';
import type { TestAccount } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, db, api, account } = useStack({
  intake: { BASE_PATH: '/api' },
  worker: true,
  notifier: true,
  account: 'each test',
  events: true,
});

/** Starts `orders listen` in this process. */
function listen(sender: TestAccount, args: string[], env: object = {}) {
  const command = startCommand(['listen', ...args], { ...envOf({ ...sender, url: api.url }), ...env });
  return {
    ...command,
    /** Its lines about events, once there are so many, as fields. */
    lines: async (count: number) => (await command.lines(count)).map((line) => line.split(/ {2,}/)),
    says: (text: string, times = 1) => until(text, async () => command.printed.stderr.split(text).length > times),
    async end() {
      command.interrupt();
      return command.ended();
    },
  };
}

const secretIn = (stderr: string) => /^Signs with the secret (whsec_\S+)$/m.exec(stderr)?.[1] as string;

const EVENTS_POSTED = 'Posts events to ';

interface Delivery {
  body: string;
  headers: EventHeaders;
}

/** A developer's program on a port: it keeps each request and replies as `status` says. */
async function startProgram(port: number, deliveries: Delivery[], status: () => number = () => 204) {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    deliveries.push({ body, headers: request.headers });
    response.writeHead(status()).end('a reply');
  });
  return listenOn(server, port);
}

async function openProgram(status?: () => number) {
  const [port, deliveries] = [await freePort(), [] as Delivery[]];
  const program = await startProgram(port, deliveries, status);
  const ids = () => deliveries.map(({ body }) => (JSON.parse(body) as OrdersEvent).data.source_order_id);
  return { ...program, port, deliveries, ids, to: ['--forward-to', `http://localhost:${port}/hook?a=b`] };
}

let orders = 0;

async function write(account: TestAccount, fields: object = {}): Promise<string> {
  const id = `listen-${++orders}`;
  await api.order(account, { source_order_id: id, ...fields }, { Prefer: 'wait=30' });
  return id;
}

/** Waits until this account's log has so many events. */
const published = (account: TestAccount, count: number): Promise<OrdersEvent[]> =>
  until(`${count} events`, async () => {
    const { events } = (await api.events(account)).body;
    return events.length >= count && events;
  });

test('events from now on are posted as the service delivers them, with a line each', async () => {
  const { account, receiver } = await subscribe(stack);
  await write(account);
  await published(account, 1);
  const program = await openProgram();
  const listening = listen(account, program.to);
  await listening.says(EVENTS_POSTED);
  const id = await write(account, { customer: { name: 'Aisha', phone: '0501234567' } });
  const [line] = await listening.lines(1);
  const [, event] = (await published(account, 2)) as [OrdersEvent, OrdersEvent];
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ$/);
  expect(line).toEqual([time, 'receipt.written', event.id, '204', expect.stringMatching(/^\d+ ms$/)]);
  expect(program.ids()).toEqual([id]);
  const { printed } = listening;
  const [{ body, headers }] = program.deliveries as [Delivery];
  expect(await verifyEvent(body, headers, secretIn(printed.stderr))).toEqual(event);

  const delivered = await until('the delivery', async () => receiver.received.find((one) => one.event.id === event.id));
  expect(body).toBe(delivered.text);
  // Those of the connection are not the event's.
  const own = (all: object) => Object.entries(all).filter(([name]) => !/^(host|connection)$/.test(name));
  const changing = { 'webhook-timestamp': expect.any(String), 'webhook-signature': expect.any(String) };
  expect(Object.fromEntries(own(headers))).toEqual({ ...Object.fromEntries(own(delivered.headers)), ...changing });

  const { code, stderr } = await listening.end();
  expect(code).toBe(0);
  expect(stderr).toBe(
    `Signs with the secret ${secretIn(stderr)}\nPosts events to http://localhost:${program.port}/hook until Ctrl-C.\nContinue with --since 2.\n`,
  );
  expect(JSON.stringify(printed)).not.toMatch(/Aisha|0501234567|oik_/);
});

test('the secret is the same for a key, another for another key, or that of --secret', async () => {
  const program = await openProgram();
  await write(account);
  await published(account, 1);
  const secretOf = async (sender: TestAccount, ...args: string[]) =>
    secretIn((await listen(sender, [...program.to, '--replay', '1', ...args]).ended()).stderr);
  const secret = await secretOf(account);
  expect(await secretOf(account)).toBe(secret);
  expect(await secretOf(await stack.account({ events: true }))).not.toBe(secret);
  const own = `whsec_${Buffer.alloc(32, 'own').toString('base64')}`;
  expect(await secretOf(account, '--secret', own)).toBe(own);
  const [first, , last] = program.deliveries as [Delivery, Delivery, Delivery];
  await verifyEvent(first.body, first.headers, secret);
  await verifyEvent(last.body, last.headers, own);
});

test('an event that is not taken is shown, the next one follows, and --replay posts it again', async () => {
  let status = 500;
  const program = await openProgram(() => status);
  const listening = listen(account, program.to);
  await listening.says(EVENTS_POSTED);
  const first = await write(account);
  await listening.lines(1);
  status = 302;
  const second = await write(account);
  await listening.lines(2);
  status = 200;
  const third = await write(account);
  const lines = await listening.lines(3);
  expect(lines.map((line) => line[3])).toEqual(['500', '302', '200']);
  await listening.end();
  const [[, , id]] = lines as [string[]];
  const again = (...args: string[]) => listen(account, [...program.to, '--replay', ...args]).ended();
  const replayed = await again(id as string);
  expect(replayed).toMatchObject({ code: 0, stdout: expect.stringMatching(`  ${id}  200  \\d+ ms\n$`) });
  expect(await again('2')).toMatchObject({ code: 0 });
  expect(program.ids()).toEqual([first, second, third, first, second]);
  status = 503;
  expect(await again(id as string)).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(`  ${id}  503  \\d+ ms\n$`),
    stderr: expect.stringMatching(/\nThe program did not take the event\.\n$/),
  });
  await program.close();
  expect(await again('3')).toMatchObject({ code: 1, stdout: expect.stringContaining('  ECONNREFUSED  ') });
  expect(await again('4')).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('No stored event') });
});

test('events wait while the program restarts, in their order', async () => {
  const { port, deliveries, ids, to, ...program } = await openProgram();
  const listening = listen(account, to);
  await listening.says(EVENTS_POSTED);
  const sent = [await write(account)];
  await listening.lines(1);
  await program.close();
  sent.push(await write(account), await write(account));
  await listening.says('Nothing listens');
  await startProgram(port, deliveries);
  const lines = await listening.lines(3);
  expect(lines.map((line) => line[3])).toEqual(['204', '204', '204']);
  expect(ids()).toEqual(sent);
  expect((await listening.end()).stderr.match(/Nothing listens.*/g)).toEqual([
    `Nothing listens at http://localhost:${port}: events wait until a program does.`,
  ]);
});

test('a restart of the service is waited out, with a line when it is away and one when it is back', async () => {
  const port = String(await freePort());
  const settings = { BASE_PATH: '/api', PORT: port };
  let service = await stack.intake(settings);
  const program = await openProgram();
  const listening = listen(account, [...program.to, '--url', `http://127.0.0.1:${port}/api`]);
  await listening.says(EVENTS_POSTED);
  const sent = [await write(account)];
  await listening.lines(1);
  await service.close();
  await listening.says('Waits for the service');
  service = await stack.intake(settings);
  // Without an event that ends a wait.
  await listening.says('The service is back.');
  await service.close();
  await listening.says('Waits for the service', 2);
  sent.push(await write(account));
  await stack.intake(settings);
  await listening.lines(2);
  sent.push(await write(account));
  await listening.lines(3);
  expect(program.ids()).toEqual(sent);
  const { code, stderr } = await listening.end();
  expect(code).toBe(0);
  const outage = [
    expect.stringMatching(/^Waits for the service: (no connection|the service answers 503)/),
    'The service is back.',
  ];
  expect(stderr.match(/^(Waits for|The service is).*$/gm)).toEqual([...outage, ...outage]);
});

test('--types leaves out other events', async () => {
  const program = await openProgram();
  const listening = listen(account, [...program.to, '--types', 'order.cancelled, receipt.duplicate']);
  await listening.says(EVENTS_POSTED);
  const id = await write(account);
  await api.order(account, { source_order_id: id, address: 'Villa 2' }, { Prefer: 'wait=30' });
  await api.cancel(account, { source_order_id: id });
  expect((await listening.lines(2)).map((line) => line[1])).toEqual(['receipt.duplicate', 'order.cancelled']);
  expect(await listening.end()).toMatchObject({ stderr: expect.stringMatching(/Continue with --since 3\.\n$/) });
  expect(program.deliveries).toHaveLength(2);
});

test('--since starts behind an event, at a time, or so long ago', async () => {
  // A log of three pages with a gap after a restore, of which one event a minute is later than the one before.
  await knex.raw(
    `insert into events
     select ?, case when n > 2000 then n + 1000000 else n end, gen_random_uuid(), 'receipt.written',
       date_trunc('minute', now()) - (2400 - n) * interval '1 minute', gen_random_uuid(), 'since-' || n, n, '{}'
     from generate_series(1, 2400) as n`,
    [account.id],
  );
  await knex('event_logs').where({ account_id: account.id }).update({ last_sequence: 1_002_400 });
  const [early, late] = await knex('events')
    .where({ account_id: account.id })
    .whereIn('source_order_id', ['since-300', 'since-2398'])
    .orderBy('sequence')
    .select('event_id', 'happened_at');
  const idOf = ({ event_id: uuid }: { event_id: string }) => `evt_${uuid.replaceAll('-', '')}`;
  for (const [since, sent] of [
    [idOf(late), ['since-2399', 'since-2400']],
    ['1002399', ['since-2400']],
    [late.happened_at.toISOString(), ['since-2398', 'since-2399', 'since-2400']],
    [early.happened_at.toISOString(), ['since-300', 'since-301']],
    ['2d', ['since-1', 'since-2']],
  ] as const) {
    // Each time another program: one may receive an event after the command has ended.
    const program = await openProgram();
    const listening = listen(account, [...program.to, '--since', since]);
    await listening.lines(sent.length);
    await listening.end();
    expect(program.ids().slice(0, sent.length)).toEqual(sent);
  }
  const program = await openProgram();
  expect(await listen(account, [...program.to, '--replay', idOf(early)]).ended()).toMatchObject({ code: 0 });
  expect(program.ids()).toEqual(['since-300']);
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s ends a process with the exit code 0', async (signal) => {
  const program = await openProgram();
  await write(account);
  await published(account, 1);
  const argv = ['listen', ...program.to, '--since', '0'];
  const { child, lines, ended } = spawnCommand(argv, envOf({ ...account, url: api.url }));
  await lines(1);
  child.kill(signal);
  expect(await ended).toMatchObject({ code: 0 });
});

const HOOK = ['--forward-to', 'http://127.0.0.1:9/hook'];
const NO_ID = `evt_${'0'.repeat(32)}`;

test.each<[string, string[], object, number, string]>([
  ['no address', [], {}, 2, "required option '--forward-to <address>' not specified; see: orders listen --help"],
  [
    'a host without https',
    ['--forward-to', 'http://192.168.1.5/'],
    {},
    2,
    '--forward-to must begin with https://. Only',
  ],
  ['an address with a password', ['--forward-to', 'http://me:pw@localhost/'], {}, 2, 'must not contain a user or'],
  ['an unknown type', [...HOOK, '--types', 'order.created'], {}, 2, '--types takes receipt.written,'],
  ['a time that is none', [...HOOK, '--since', 'yesterday'], {}, 2, '--since takes now, the id or sequence of'],
  ['an event that is none', [...HOOK, '--replay', 'evt_1'], {}, 2, '--replay takes the id of an event'],
  ['a secret that is short', [...HOOK, '--secret', 'whsec_c2hvcnQ='], {}, 2, '--secret takes the secret of an'],
  ['a replay of types', [...HOOK, '--replay', '1', '--types', 'order.edited'], {}, 2, 'cannot be used with option'],
  ['no key', HOOK, { ORDERS_API_KEY: undefined }, 2, 'Configuration: set ORDERS_API_KEY'],
  ['a wrong key', HOOK, { ORDERS_API_KEY: `oik_${'x'.repeat(49)}` }, 1, '(401 invalid_api_key)'],
  ['an unknown event', [...HOOK, '--since', NO_ID], {}, 1, 'No stored event of this account has this id.'],
  ['an unknown sequence', [...HOOK, '--since', '7'], {}, 1, '(400 invalid_query)'],
  ['disabled events', HOOK, {}, 1, '(409 events_disabled)'],
])('%s is one line and an exit code', async (what, args, env, code, line) => {
  if (what === 'disabled events') await setEvents(db, account.id, false);
  const outcome = await listen(account, args, env).ended();
  expect(outcome).toMatchObject({ code, stdout: '' });
  const said = outcome.stderr
    .split('\n')
    .slice(0, -1)
    .filter((one) => !/^(Signs|Posts) /.test(one));
  expect(said).toEqual([expect.stringContaining(line)]);
  expect(outcome.stderr).not.toMatch(/oik_\w|c2hvcnQ/);
});
