import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { exchange, head, openRaw, type RawConnection } from './harness/raw-http.ts';
import { type RunningIntake, type Stack, startStack, type TestAccount } from './harness/stack.ts';
import { until } from './harness/until.ts';

let stack: Stack;
let intake: RunningIntake;
let account: TestAccount;
const opened: RawConnection[] = [];

beforeAll(async () => {
  stack = await startStack('postgres');
  account = await stack.account();
});
afterAll(() => stack.close());
afterEach(async () => {
  for (const { socket } of opened.splice(0)) socket.destroy();
  await intake.close();
});

const headOf = (target: string, { key }: TestAccount, length: number) =>
  head(`POST ${target} HTTP/1.1`, [
    ['Host', 'x'],
    ['Authorization', `Bearer ${key}`],
    ['Content-Type', 'application/json'],
    ['Content-Length', length],
  ]);

/** Sends the head of a request and never its body. */
function begin(target: string, by: TestAccount, length = 100): RawConnection {
  const connection = openRaw(intake.api.url);
  opened.push(connection);
  connection.socket.write(headOf(target, by, length));
  return connection;
}

const inFlight = (count: number) =>
  until(`${count} batches in flight`, async () => {
    const metrics = await (await fetch(`${intake.adminUrl}/metrics`)).text();
    return new RegExp(`^intake_batches_in_flight ${count}$`, 'm').test(metrics);
  });

const PATH = '/ingest/orders/batch';

test('no spelling of its target takes a batch around the places of batches', async () => {
  intake = await stack.intake({ MAX_IN_FLIGHT: '64', REQUEST_TIMEOUT: '10m' });
  begin(PATH, await stack.account());
  await inFlight(1);
  const answerTo = async (target: string) => {
    const reply = await exchange(intake.api.url, headOf(target, account, 2), '[]');
    return [target, reply?.body.code ?? reply?.status];
  };
  const leadThere = ['', '#x', '?x', '?x#y', '#?'].map((end) => PATH + end);
  for (const target of [...leadThere, `http://x${PATH}#x`])
    expect(await answerTo(target)).toEqual([target, 'overloaded']);
  const leadNowhere = [
    `${PATH}/`,
    `${PATH}/#x`,
    PATH.toUpperCase(),
    '/ingest/orders/b%61tch',
    '/ingest/orders%2Fbatch#x',
    `/${PATH}`,
    `//a@b${PATH}#`,
    '/ingest\\orders\\batch#',
    `${PATH}%`,
    `${PATH};x`,
    '/ingest/x/../orders/batch',
  ];
  for (const target of leadNowhere) expect(await answerTo(target)).toEqual([target, 'not_found']);
  // These the parser refuses.
  for (const end of ['\t', '\f', '\xa0', '#\xa0']) expect(await answerTo(PATH + end)).toEqual([PATH + end, 400]);
});

test('lists of ids have few places of their own: they keep no batch out', async () => {
  intake = await stack.intake({ REQUEST_TIMEOUT: '10m' });
  const [one, other] = [await stack.account(), await stack.account()];
  const begun = [one, other].flatMap((by) => Array.from({ length: 8 }, () => begin('/ingest/reconcile', by)));
  // Four of each key, and the others are refused.
  const refused: unknown[] = [];
  for (const connection of begun)
    void connection.reply(60_000).then(
      (reply) => refused.push(reply?.body.code),
      () => {},
    );
  await until('what is beyond their places is refused', async () => refused.length === 8);
  expect(refused).toEqual(Array(8).fill('overloaded'));
  expect((await intake.api.batch(account, [{ source_order_id: 'beside lists' }])).status).toBe(202);
  expect((await intake.api.reconcile(account, ['beside lists'])).body.code).toBe('overloaded');
});

test('a batch that is slow to come keeps its place only until another needs it', async () => {
  // Two places, and a sixth of the timeout is 3 s.
  intake = await stack.intake({ MAX_IN_FLIGHT: '128', REQUEST_TIMEOUT: '18s' });
  const body = '[{"source_order_id":"slow"}]';
  const slow = [begin(PATH, await stack.account(), body.length), begin(PATH, await stack.account(), body.length)];
  await inFlight(2);
  const reply = await until('another gets a place', async () => {
    const { status, body } = await intake.api.batch(account, [{ source_order_id: 'quick' }]);
    if (status !== 202) expect(body.code).toBe('overloaded');
    return status === 202;
  });
  expect(reply).toBe(true);
  const [first, second] = slow as [RawConnection, RawConnection];
  expect((await first.reply())?.status).toBe(408);
  // The younger one had to give nothing up, and its order is taken when it comes.
  second.socket.write(body);
  expect(await second.reply()).toMatchObject({ status: 202, body: { accepted: 1 } });
  await inFlight(0);
});
