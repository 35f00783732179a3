import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { unseal } from '@orders/database/accounts/seal.ts';
import { listAudit } from '@orders/database/audit.ts';
import { EVENT_TYPES } from '@orders/domain/events.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import { moveClock } from '../harness/clock.ts';
import { createTestDatabase } from '../harness/database.ts';
import { type EventReceiver, startEventReceiver } from '../harness/event-receiver.ts';
import { runCommand } from '../harness/run-command.ts';
import { useStack } from '../harness/use-stack.ts';
import { run } from './run.ts';

const UNKNOWN = `ep_${'0'.repeat(24)}`;
const PUBLIC_URL = 'https://shop.example.com/events';
let receiver: EventReceiver;
let id: string;

const { stack, knex, db, api, account } = useStack({
  intake: true,
  worker: true,
  notifier: true,
  account: 'each test',
});

beforeAll(async () => {
  receiver = await startEventReceiver();
});
beforeEach(async () => {
  id = String(account.id);
  receiver.respond(204);
  receiver.received.length = 0;
});

const env = (more: object = {}) => ({
  DATABASE_URL: stack.database.url,
  SECRETS_KEY: stack.secretsKey.toString('base64'),
  CALLBACK_ALLOW: '127.0.0.1:*',
  ...more,
});
const endpoints = (...argv: string[]) => run(['endpoints', ...argv], env());

// biome-ignore lint/suspicious/noExplicitAny: output of every shape.
async function json(...argv: string[]): Promise<any> {
  const { code, stdout, stderr } = await endpoints(...argv, '--json');
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

async function refused(code: number, ...argv: string[]): Promise<string> {
  const outcome = await endpoints(...argv);
  expect(outcome).toMatchObject({ code });
  return outcome.stderr.trimEnd();
}

/** Creates an endpoint of the account, with events enabled. */
async function create(url = receiver.url, ...more: string[]) {
  await run(['events', 'enable', id], env());
  return json('create', id, url, ...more);
}

async function send(count = 1): Promise<void> {
  const orders = Array.from({ length: count }, (_, at) => ({ source_order_id: `order-${at}` }));
  expect(await api.batch(account, orders)).toMatchObject({ status: 202 });
}

const received = (count: number) => until(`${count} deliveries`, async () => receiver.received.length >= count);

/** The actions on endpoints, oldest first. */
async function actions() {
  const audit = (await listAudit(db, { accountId: account.id, limit: 100 })).reverse();
  return audit
    .filter(({ subject }) => subject.startsWith('endpoint:'))
    .map(({ action, subject, details }) => [action, subject, details]);
}

/** The current secret of an endpoint and the one before. */
async function storedSecrets(endpointId: string): Promise<(string | null)[]> {
  const [row] = await knex('endpoints').where({ endpoint_id: endpointId });
  return [row.sealed, row.previous_sealed].map((sealed) => sealed && unseal(stack.secretsKey, account.id, sealed));
}

describe('create', () => {
  test('prints id and secret once; list never prints the secret', async () => {
    const created = await create(`${PUBLIC_URL}?a=1`);
    expect(created).toMatchObject({
      endpoint_id: expect.stringMatching(/^ep_[0-9a-f]{24}$/),
      secret: expect.stringMatching(/^whsec_[\w+/]{43}=$/),
      account_id: account.id,
      url: `${PUBLIC_URL}?a=1`,
      types: null,
      disabled: null,
    });
    expect(await storedSecrets(created.endpoint_id)).toEqual([created.secret, null]);
    const { secret, ...rest } = created;
    expect(await json('list', id)).toEqual([rest]);
    const { stdout } = await endpoints('list', id);
    expect(stdout.split('\n').map((line) => line.trim().split(/ {2,}/))).toEqual([
      ['ENDPOINT', 'URL', 'TYPES', 'STATE', 'PENDING', 'WAITING'],
      [created.endpoint_id, rest.url, 'all', 'enabled', '0', '0'],
      [''],
    ]);
    expect(stdout).not.toContain(secret);
    expect(await actions()).toEqual([['endpoint_created', `endpoint:${created.endpoint_number}`, { url: PUBLIC_URL }]]);
  });

  test('as text says that the secret is shown once', async () => {
    await create();
    const { stdout } = await endpoints('create', id, PUBLIC_URL);
    expect(stdout).toMatch(/^secret +whsec_\S+\nEnter the secret at the receiver now: it cannot be shown again\.\n/m);
  });

  test('takes types, and the account by its name', async () => {
    await create();
    const [{ name }] = await knex('accounts').where({ account_id: id }).select('name');
    const types = 'order.confirmed, receipt.dead,order.confirmed';
    const created = await json('create', name, PUBLIC_URL, '--types', types);
    expect(created).toMatchObject({ account_id: account.id, types: ['order.confirmed', 'receipt.dead'] });
    expect((await actions()).at(-1)?.[2]).toEqual({ url: PUBLIC_URL, types: created.types });
  });

  test('needs events, and says which command enables them', async () => {
    expect(await refused(1, 'create', id, PUBLIC_URL)).toBe(
      `Events are not enabled for this account: run orders events enable ${id} first.`,
    );
    expect(await actions()).toEqual([]);
  });

  test('makes at most 10 endpoints', async () => {
    await create();
    for (let more = 1; more < 10; more++) await json('create', id, PUBLIC_URL);
    expect(await refused(1, 'create', id, PUBLIC_URL)).toMatch(/^This account has 10 endpoints/);
  });

  test.each([
    ['http://shop.example.com/', 'The URL must begin with https://.'],
    ['https://me:whsec_password@shop.example.com/', 'The URL must not contain a user or a password.'],
    ['https://shop.example.com:22/', 'The URL must have port 443 or one above 1023.'],
    ['https://intranet/', 'The URL must name a public host.'],
    ['shop', 'The URL must be a URL of at most 2000 characters.'],
  ])('refuses the URL %s without repeating it', async (url, line) => {
    expect(await refused(2, 'create', id, url)).toBe(line);
  });

  test('refuses types that do not exist', async () => {
    expect(await refused(2, 'create', id, PUBLIC_URL, '--types', 'order.lost')).toBe(
      `--types takes ${EVENT_TYPES.join(', ')}, with commas between them.`,
    );
  });

  test('allows http and private hosts only of CALLBACK_ALLOW', async () => {
    expect((await create()).url).toBe(receiver.url);
    const argv = ['endpoints', 'create', id, receiver.url];
    expect(await run(argv, env({ CALLBACK_ALLOW: '' }))).toMatchObject({ code: 2 });
    expect(await run(argv, env({ CALLBACK_ALLOW: 'http://x' }))).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^Configuration: CALLBACK_ALLOW must be a list of hosts/),
    });
    expect(await run(argv, env({ SECRETS_KEY: undefined }))).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^Configuration: set SECRETS_KEY/),
    });
  });
});

test('a list without endpoints says so', async () => {
  expect(await json('list', id)).toEqual([]);
  expect((await endpoints('list', id)).stdout).toBe('The account has no endpoints.\n');
});

test('control characters in a URL are escaped', async () => {
  const { endpoint_id } = await create(PUBLIC_URL);
  await knex('endpoints').where({ endpoint_id }).update({ url: 'https://a.example/\u001b[2J\u202e' });
  for (const argv of [
    ['list', id],
    ['disable', endpoint_id],
  ])
    expect((await endpoints(...argv)).stdout).toContain('https://a.example/\\u001b[2J\\u202e');
});

describe('test', () => {
  test('prints status and duration of a delivered test event', async () => {
    const { endpoint_id, endpoint_number, secret } = await create();
    const attempt = await json('test', endpoint_id);
    expect(attempt).toMatchObject({ type: 'endpoint.test', status: 204, error: null, detail: null, attempt: 1 });
    const [delivery] = receiver.received;
    if (!delivery) throw new Error('nothing was delivered');
    receiver.verify(delivery, secret);
    expect(delivery.event).toMatchObject({ id: attempt.event_id, type: 'endpoint.test' });
    expect((await endpoints('test', endpoint_id)).stdout).toMatch(
      /^The test event was delivered \(status 204, [\d,]+ ms\)\.\n$/,
    );
    expect((await actions()).at(-1)).toEqual(['endpoint_tested', `endpoint:${endpoint_number}`, { url: receiver.url }]);
  });

  test('that fails exits with 1 and says why', async () => {
    const { endpoint_id } = await create();
    receiver.respond(500);
    expect(await refused(1, 'test', endpoint_id)).toMatch(
      /^The test failed \(status 500, [\d,]+ ms\): The endpoint replied with a status other than 2xx\.$/,
    );
    const nobody = await create(`http://127.0.0.1:${await freePort()}/`);
    expect(await refused(1, 'test', nobody.endpoint_id)).toMatch(
      /^The test failed \(no status, .*: The connection fai/,
    );
    const printed = await runCommand(['endpoints', 'test', endpoint_id, '--json'], env());
    expect(printed.code).toBe(1);
    expect(JSON.parse(printed.stdout)).toMatchObject({ status: 500, error: 'refused_status' });
    expect(printed.stderr).toMatch(/^The test failed \(status 500.*\n$/);
  });

  test('says after 20 seconds that there is no notifier', async () => {
    const other = await createTestDatabase();
    const own = (...argv: string[]) => run(argv, env({ DATABASE_URL: other.url }));
    try {
      const created = await own('accounts', 'create', 'Without notifier', '--json');
      const account_id = String(JSON.parse(created.stdout).account_id);
      await own('events', 'enable', account_id);
      const { stdout } = await own('endpoints', 'create', account_id, PUBLIC_URL, '--json');
      const tried = own('endpoints', 'test', JSON.parse(stdout).endpoint_id);
      await until('it is requested', () => other.knex('audit_events').where({ action: 'endpoint_tested' }).first());
      await moveClock(20);
      expect(await tried).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^The test event has no outcome after 20 seconds: check that the notifier runs/),
      });
    } finally {
      await other.close();
    }
  });

  test('reaches a disabled endpoint', async () => {
    const { endpoint_id } = await create();
    await json('disable', endpoint_id);
    expect(await json('test', endpoint_id)).toMatchObject({ status: 204 });
  });
});

test('rotate makes a new secret, and both sign during the overlap', async () => {
  const { endpoint_id, endpoint_number, secret } = await create();
  const rotated = await json('rotate', endpoint_id);
  expect(rotated.secret).toMatch(/^whsec_/);
  expect((Date.parse(rotated.previous_until) - Date.now()) / 3_600_000).toBeCloseTo(24, 1);
  expect(await storedSecrets(endpoint_id)).toEqual([rotated.secret, secret]);
  await json('test', endpoint_id);
  const [delivery] = receiver.received;
  if (!delivery) throw new Error('nothing was delivered');
  for (const each of [secret, rotated.secret]) receiver.verify(delivery, each);
  expect(await json('rotate', endpoint_id, '--overlap', '0')).toMatchObject({ previous_until: null });
  const { stdout } = await endpoints('rotate', endpoint_id, '--overlap', '1h');
  expect(stdout).toMatch(/Until \S+Z deliveries are signed with the old secret too\.\n$/);
  const subject = `endpoint:${endpoint_number}`;
  expect((await actions()).filter(([action]) => action === 'endpoint_rotated')).toEqual(
    [86_400_000, 0, 3_600_000].map((overlap_ms) => ['endpoint_rotated', subject, { url: receiver.url, overlap_ms }]),
  );
});

test('a disabled endpoint gets nothing, and everything once it is enabled; each change is recorded once', async () => {
  const { endpoint_id, endpoint_number } = await create();
  for (let time = 0; time < 2; time++) expect(await json('disable', endpoint_id)).toMatchObject({ disabled: 'paused' });
  await send(3);
  await until('events are pending', async () => (await json('list', id))[0].pending === 3);
  expect((await endpoints('list', id)).stdout).toMatch(/disabled +3 +0\n$/);
  expect(receiver.received).toEqual([]);
  for (let time = 0; time < 2; time++) expect(await json('enable', endpoint_id)).toMatchObject({ disabled: null });
  await received(3);
  const subject = `endpoint:${endpoint_number}`;
  expect((await actions()).slice(1)).toEqual([
    ['endpoint_paused', subject, { url: receiver.url }],
    ['endpoint_enabled', subject, { url: receiver.url }],
  ]);
});

test('the state says why an endpoint was disabled, or that it fails', async () => {
  const { endpoint_id } = await create();
  receiver.respond(500);
  await send();
  await until('it fails', async () => (await endpoints('list', id)).stdout.includes('failing'));
  receiver.respond(410);
  await knex('endpoints').where({ endpoint_id }).update({ next_round_at: knex.fn.now() });
  await knex('waiting_deliveries').update({ due_at: knex.fn.now() });
  await until('it is disabled', async () => (await endpoints('list', id)).stdout.includes('disabled: replied 410'));
});

test('resend delivers a range of events again, with the ids that they had', async () => {
  const { endpoint_id, endpoint_number } = await create();
  await send(5);
  await received(5);
  await until('all are settled', async () => (await json('list', id))[0].pending === 0);
  const idOf = new Map(receiver.received.map(({ event }) => [event.data.sequence, event.id]));
  expect(await json('resend', endpoint_id, '--from', '2', '--to', '3')).toEqual({ endpoint_id, events: 2 });
  await received(7);
  expect((await endpoints('resend', endpoint_id, '--from', '4')).stdout).toBe('2 events will be delivered again.\n');
  await received(9);
  const again = receiver.received.slice(5).map(({ event }) => [event.data.sequence, event.id]);
  expect(again.toSorted(([a], [b]) => a - b)).toEqual([2, 3, 4, 5].map((sequence) => [sequence, idOf.get(sequence)]));
  expect((await endpoints('resend', endpoint_id, '--from', '6')).stdout).toMatch(/^No stored event of this range/);
  await json('disable', endpoint_id);
  expect((await endpoints('resend', endpoint_id, '--from', '5')).stdout).toBe(
    '1 event will be delivered again once the endpoint is enabled.\n',
  );
  const url = receiver.url;
  expect((await actions()).filter(([action]) => action === 'events_resent')).toEqual(
    [
      { url, from: 2, to: 3, events: 2 },
      { url, from: 4, to: null, events: 2 },
      { url, from: 5, to: null, events: 1 },
    ].map((details) => ['events_resent', `endpoint:${endpoint_number}`, details]),
  );
});

test('deliveries shows the newest attempts', async () => {
  const { endpoint_id } = await create();
  expect((await endpoints('deliveries', endpoint_id)).stdout).toMatch(/^Nothing was delivered/);
  await send();
  await until('it is settled', async () => (await json('deliveries', endpoint_id)).length === 1);
  receiver.respond(302);
  await refused(1, 'test', endpoint_id);
  const attempts = await json('deliveries', endpoint_id);
  expect(attempts).toMatchObject([
    {
      type: 'endpoint.test',
      sequence: null,
      attempt: 1,
      status: 302,
      error: 'redirect',
      detail: expect.stringMatching(/^The endpoint replied with a redirect/),
    },
    { type: 'receipt.written', sequence: 1, attempt: 1, status: 204, error: null, detail: null },
  ]);
  expect(attempts[1].event_id).toBe(receiver.received[0]?.event.id);
  expect(await json('deliveries', endpoint_id, '--limit', '1')).toEqual([attempts[0]]);
  const { stdout } = await endpoints('deliveries', endpoint_id);
  const rows = stdout.split('\n').map((line) => line.trim().split(/ {2,}/));
  expect(rows.map(([, ...cells]) => cells)).toEqual([
    ['SEQUENCE', 'TYPE', 'ATTEMPT', 'STATUS', 'MS', 'ERROR'],
    ['-', 'endpoint.test', '1', '302', expect.stringMatching(/^[\d,]+$/), 'redirect'],
    ['1', 'receipt.written', '1', '204', expect.stringMatching(/^[\d,]+$/), '-'],
    [],
  ]);
});

test('a removed endpoint is gone', async () => {
  const { endpoint_id, endpoint_number } = await create();
  expect(await json('remove', endpoint_id)).toEqual({ account_id: account.id, endpoint_id, removed: true });
  expect(await json('list', id)).toEqual([]);
  expect((await actions()).at(-1)).toEqual(['endpoint_removed', `endpoint:${endpoint_number}`, { url: receiver.url }]);
  expect(await refused(1, 'remove', endpoint_id)).toMatch(/^No endpoint has this id/);
});

test('an unknown endpoint is one line, for each command', async () => {
  for (const argv of [
    ['test'],
    ['rotate'],
    ['disable'],
    ['enable'],
    ['resend', '--from', '1'],
    ['deliveries'],
    ['remove'],
  ])
    expect(await refused(1, argv[0] as string, UNKNOWN, ...argv.slice(1))).toBe(
      'No endpoint has this id; orders endpoints list <account> shows those of an account.',
    );
});

test.each([
  ['an id that is none', ['test', 'whsec_abc'], /^An endpoint id is ep_ and 24 hex digits/],
  ['resend without --from', ['resend', UNKNOWN], /^required option '--from <sequence>'/],
  ['a sequence that is none', ['resend', UNKNOWN, '--from', '0'], /^--from takes the sequence of an event/],
  ['a range that ends before it begins', ['resend', UNKNOWN, '--from', '2', '--to', '1'], /^--to must not be before/],
  ['too long an overlap', ['rotate', UNKNOWN, '--overlap', '366d'], /^--overlap takes a time span/],
  ['too many attempts', ['deliveries', UNKNOWN, '--limit', '1001'], /^--limit takes a whole number from 1 to 1000/],
])('%s is a usage error', async (_, argv, line) => {
  expect(await refused(2, ...argv)).toMatch(line);
});
