import { expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import { moveClock, stopClock } from '../harness/clock.ts';
import { closeAfterTest } from '../harness/close-at-end.ts';
import { exchange, head, openRaw, type RawConnection } from '../harness/raw-http.ts';
import { readGauge } from '../harness/read-metrics.ts';
import type { RunningIntake, TestAccount } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

let intake: RunningIntake;

const { stack, knex, account } = useStack({ account: true });

const headOf = (target: string, { key }: TestAccount, length: number) =>
  head(`POST ${target} HTTP/1.1`, [
    ['Host', 'x'],
    ['Authorization', `Bearer ${key}`],
    ['Content-Type', 'application/json'],
    ['Content-Length', length],
  ]);

/** Sends a request without the last `missing` bytes of its body. */
function begin(target: string, by: TestAccount, body: string, missing = 0): RawConnection {
  const connection = openRaw(intake.api.url);
  connection.socket.write(
    Buffer.concat([headOf(target, by, body.length), Buffer.from(body.slice(0, body.length - missing))]),
  );
  return connection;
}

const metric = (name: string) => readGauge(intake.adminUrl, name);

const inFlight = (count: number) =>
  until(`${count} batches in flight`, async () => (await metric('intake_batches_in_flight')) === count);

const PATH = '/ingest/orders/batch';

test('every spelling of the batch path uses the slots of batches', async () => {
  intake = closeAfterTest(await stack.intake({ MAX_IN_FLIGHT: '64' }));
  const lock = await knex.transaction();
  await lock.raw('lock table receipts in access exclusive mode');
  begin(PATH, await stack.account(), '[{"source_order_id":"holds the slot"}]');
  await inFlight(1);
  const outcomeOf = async (target: string) => {
    const reply = await exchange(intake.api.url, headOf(target, account, 2), '[]');
    return [target, reply?.body.code ?? reply?.status];
  };
  const batchTargets = ['', '#x', '?x', '?x#y', '#?'].map((end) => PATH + end);
  for (const target of [...batchTargets, `http://x${PATH}#x`])
    expect(await outcomeOf(target)).toEqual([target, 'overloaded']);
  const otherTargets = [
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
  for (const target of otherTargets) expect(await outcomeOf(target)).toEqual([target, 'not_found']);
  // The HTTP parser rejects these.
  for (const end of ['\t', '\f', '\xa0', '#\xa0']) expect(await outcomeOf(PATH + end)).toEqual([PATH + end, 400]);
  await lock.rollback();
  await inFlight(0);
});

test('lists of ids have their own slots, which each account shares with others and which do not block batches', async () => {
  intake = closeAfterTest(await stack.intake());
  const lock = await knex.transaction();
  await lock.raw('lock table orders in access exclusive mode');
  const lists = async (count: number) => {
    const by = await stack.account();
    const codes: unknown[] = [];
    for (let list = 0; list < count; list += 1) {
      const connection = begin('/ingest/reconcile', by, '{"source_order_ids":["x"]}');
      void connection.reply(600_000).then(
        (reply) => codes.push(reply?.body.code),
        () => {},
      );
    }
    return codes;
  };
  const one = await lists(8);
  await until('the first account has half of the slots', async () => one.length === 4);
  const other = await lists(8);
  await until('the second account has half of the rest', async () => other.length === 6);
  expect([...one, ...other]).toEqual(Array(10).fill('overloaded'));
  expect((await intake.api.batch(account, [{ source_order_id: 'beside lists' }])).status).toBe(202);
  const third = intake.api.reconcile(account, ['beside lists']);
  await lock.rollback();
  expect((await third).status).toBe(200);
});

/** A body counts as slow after a sixth of the timeout, which is 100 seconds. */
const LIMITS = {
  MAX_BODY_BYTES: '100000',
  MAX_BATCH_BYTES: '100000',
  MAX_BYTES_IN_FLIGHT: '200000',
  REQUEST_TIMEOUT: '10m',
};

test('bodies that together exceed the share of their account are read one after the other', async () => {
  intake = closeAfterTest(await stack.intake(LIMITS));
  const halves = Array.from({ length: 4 }, (_, index) =>
    begin(PATH, account, `[{"source_order_id":"half ${index}"}]`.padEnd(60_000, ' '), 30_000),
  );
  await until(
    'the bytes reach the share of the account',
    async () => (await metric('intake_body_bytes_in_flight')) >= 90_000,
  );
  for (const { socket } of halves) socket.write(' '.repeat(30_000));
  const replies = await Promise.all(halves.map(({ reply }) => reply()));
  expect(replies.map((reply) => reply?.status)).toEqual([202, 202, 202, 202]);
});

test('a body that waits to be read is not considered slow', async () => {
  intake = closeAfterTest(await stack.intake(LIMITS));
  const beginTwo = () =>
    ['one', 'two'].map((id) => begin(PATH, account, `[{"source_order_id":"${id}"}]`.padEnd(60_000, ' '), 1));
  const complete = ({ socket }: RawConnection) => socket.write(' ');
  const outcome = async ({ reply }: RawConnection) => {
    const { status, body } = (await reply()) ?? {};
    return body?.code ?? status;
  };
  const twoAreRead = () =>
    until('two bodies are read', async () => (await metric('intake_body_bytes_in_flight')) === 120_000);
  const goOn = stopClock();
  const first = beginTwo();
  await twoAreRead();
  const waiting = [...beginTwo(), ...beginTwo()];
  // When another account has its reply, all of them wait.
  expect((await intake.api.order(await stack.account(), { source_order_id: 'meanwhile' })).status).toBe(202);
  await moveClock(60);
  first.map(complete);
  expect(await Promise.all(first.map(outcome))).toEqual([202, 202]);
  await twoAreRead();
  await moveClock(60);
  const outcomes: unknown[] = [];
  const all = Promise.all(waiting.map(async (one) => outcomes.push(await outcome(one))));
  await until('two bodies are rejected', async () => outcomes.length === 2);
  waiting.map(complete);
  await all;
  expect(outcomes).toEqual(['overloaded', 'overloaded', 202, 202]);
  goOn();
});

test('a slow body keeps its bytes only until another account needs them', async () => {
  intake = closeAfterTest(await stack.intake(LIMITS));
  const goOn = stopClock();
  const bodyOf = (id: string, length: number) => `[{"source_order_id":"${id}"}]`.padEnd(length, ' ');
  const first = begin(PATH, await stack.account(), bodyOf('slow', 95_000), 1000);
  await until('the first body is counted', async () => (await metric('intake_body_bytes_in_flight')) === 95_000);
  await moveClock(95);
  const second = begin(PATH, await stack.account(), bodyOf('slow', 48_001), 1);
  await until('the second body is counted', async () => (await metric('intake_body_bytes_in_flight')) === 143_001);
  await moveClock(10);
  goOn();
  expect((await intake.api.batch(account, bodyOf('quick', 70_000))).status).toBe(202);
  expect((await first.reply())?.status).toBe(408);
  // The newer body keeps its bytes, and its order is accepted when it is complete.
  second.socket.write(' ');
  expect(await second.reply()).toMatchObject({ status: 202, body: { accepted: 1 } });
  await until('no bytes are counted', async () => (await metric('intake_body_bytes_in_flight')) === 0);
});
