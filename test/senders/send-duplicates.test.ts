import { beforeAll, expect, test } from '@jest/globals';
import { QUEUE_KINDS } from '../harness/queue.ts';
import { type Sender, send, useDirectory } from '../harness/send.ts';
import { type Stack, startStack, type TestAccount } from '../harness/stack.ts';

let stack: Stack;
let url: string;
const files = useDirectory();

beforeAll(async () => {
  stack = await startStack(QUEUE_KINDS[0] ?? 'postgres');
  ({ url } = (await stack.intake()).api);
  await stack.worker();
});

async function newSender(): Promise<Sender & TestAccount> {
  return { ...(await stack.account({ signing: true })), url };
}
const ordersOf = ({ id }: TestAccount) =>
  stack.database.knex('orders').where({ account_id: id }).orderBy('source_order_id').pluck('source_order_id');

/** One order per line, from pairs of an id and a customer name. */
const ndjson = (...orders: [id: string, name: string][]) =>
  orders.map(([id, name]) => `${JSON.stringify({ source_order_id: id, customer: { name } })}\n`).join('');
const failuresIn = async (file: string) =>
  (await files.read(`${file}.failed.jsonl`))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const LEFT = 'Some orders differ from what the service has, or have the id of another one.\n';

test.each([[[]], [['--webhook', '--concurrency', '1']]])(
  'the second of two rows with one id is reported with its line and id and fails the run %j',
  async (words) => {
    const sender = await newSender();
    const name = `customers-${words.length}.ndjson`;
    const file = await files.write(name, ndjson(['C-1', 'Aisha'], ['C-2', 'Omar'], ['C-1', 'Fatima']));
    const { code, stdout, stderr } = await send(sender, [file, '--json', ...words]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(LEFT)]);
    const failure = {
      place: 3,
      line: 3,
      source_order_id: 'C-1',
      status: 'duplicate',
      code: 'duplicate_differs',
      changed: ['/customer/name'],
      repeats: 1,
    };
    expect(JSON.parse(stdout)).toMatchObject({
      repeated: 1,
      changed: 1,
      statuses: { written: 2, duplicate: 1 },
      failed_file: `${file}.failed.jsonl`,
      listed: 1,
      failures: [failure],
    });
    expect(await failuresIn(name)).toMatchObject([{ ...failure, of: 3 }]);
    const again = await send(sender, [file, ...words]);
    expect([again.code, again.stdout]).toEqual([
      1,
      expect.stringMatching(
        /order 3, line 3 \(C-1\): duplicate_differs: .* differ at \/customer\/name\. It has the id of order 1\.$/m,
      ),
    ]);
    // The journal contains only ids, pointers and codes, nothing else of an order.
    for (const end of ['failed', 'orders-send'])
      expect(await files.read(`${name}.${end}.jsonl`)).not.toMatch(/Aisha|Fatima/);
  },
);

test('a corrected row in a file that is sent again is sent and reported with its line and id', async () => {
  const sender = await newSender();
  const orders: [string, string][] = Array.from({ length: 30 }, (_, at) => [`R-${at + 1}`, 'Aisha']);
  const file = await files.write('corrected.ndjson', ndjson(...orders));
  expect(await send(sender, [file])).toMatchObject({ code: 0 });
  await files.write('corrected.ndjson', ndjson(...orders.with(16, ['R-17', 'Fatima'])));
  const { code, stdout } = await send(sender, [file, '--json']);
  const failure = { place: 17, line: 17, source_order_id: 'R-17', code: 'duplicate_differs' };
  expect([code, JSON.parse(stdout)]).toMatchObject([
    1,
    { repeated: 0, changed: 1, statuses: { duplicate: 30 }, listed: 1, failures: [failure] },
  ]);
  const { knex } = stack.database;
  const resends = await knex('resends').where({ account_id: sender.id }).whereNotNull('changes');
  expect(resends).toHaveLength(1);
  // The original row sent again has no differences.
  await files.write('corrected.ndjson', ndjson(...orders));
  expect(await send(sender, [file])).toMatchObject({ code: 0 });
});

test.each(['--wait=5m', '--no-wait'])('a repeated id with the same content fails the run with %s', async (wait) => {
  const sender = await newSender();
  const name = `same${wait}.ndjson`;
  const file = await files.write(
    name,
    `\n${ndjson(['S-1', 'Aisha'], ['S-1', 'Aisha'], ['S-2', 'Omar'], ['S-1', 'Aisha'])}`,
  );
  const { code, stdout, stderr } = await send(sender, [file, '--json', wait]);
  expect([code, stderr]).toEqual([1, expect.stringContaining(LEFT)]);
  const status = wait === '--no-wait' ? 'accepted' : 'duplicate';
  const failures = [2, 4].map((place) => ({
    place,
    line: place + 1,
    source_order_id: 'S-1',
    status,
    code: 'repeated_id',
    repeats: 1,
  }));
  expect(JSON.parse(stdout)).toMatchObject({ repeated: 2, changed: 0, refused: 0, listed: 2, failures });
  expect(await failuresIn(name)).toMatchObject(failures);
  // Without a file of failures only the report lists them.
  const words = ['-', '--format', 'ndjson', wait];
  const fromStdin = await send(sender, words, await files.read(name));
  expect([fromStdin.code, fromStdin.stdout]).toEqual([
    1,
    expect.stringMatching(/order 2, line 3 \(S-1\): repeated_id: .*\n.*order 4, line 5 \(S-1\): repeated_id: /),
  ]);
});

test('all repeated ids are reported, also after many rejected orders', async () => {
  const sender = await newSender();
  const lines = `${'{}\n'.repeat(8)}${ndjson(...Array.from({ length: 9 }, (): [string, string] => ['Y-1', 'Aisha']))}`;
  const file = await files.write('behind.ndjson', lines);
  const { code, stdout } = await send(sender, [file, '--json']);
  const { refused, repeated, listed, failures } = JSON.parse(stdout);
  expect([code, refused, repeated, listed]).toEqual([1, 8, 8, 16]);
  expect(failures.filter((one: { code: string }) => one.code === 'repeated_id')).toHaveLength(8);
  expect((await send(sender, [file])).stdout).toMatch(
    /\n {2}and 3 more\nAll of them: .*behind\.ndjson\.failed\.jsonl\n$/,
  );
});

test('a rejected order with a repeated id is reported as both', async () => {
  const sender = await newSender();
  const file = await files.write(
    'both.ndjson',
    `${ndjson(['B-1', 'Aisha'])}{"source_order_id":"B-1","emirate":"Sharjha"}\n`,
  );
  const { code, stdout } = await send(sender, [file, '--strict', '--json']);
  expect([code, JSON.parse(stdout).failures]).toMatchObject([1, [{ line: 2, status: 'refused', repeats: 1 }]]);
});

test('after a change of its id the other order is sent by --only-failed', async () => {
  const sender = await newSender();
  const file = await files.write('own.ndjson', ndjson(['O-1', 'Aisha'], ['O-2', 'Omar'], ['O-1', 'Fatima']));
  expect(await send(sender, [file])).toMatchObject({ code: 1 });
  // The order still has the id of another one.
  expect(await send(sender, [file, '--only-failed'])).toMatchObject({ code: 1 });
  await files.write('own.ndjson', ndjson(['O-1', 'Aisha'], ['O-2', 'Omar'], ['O-3', 'Fatima']));
  const { code, stdout } = await send(sender, [file, '--only-failed', '--json']);
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { read: 1, statuses: { written: 1 }, failed_file: null }]);
  expect(await ordersOf(sender)).toEqual(['O-1', 'O-2', 'O-3']);
});

test('the whole file after --only-failed has nothing to do, and the report says so', async () => {
  const sender = await newSender();
  const ids = Array.from({ length: 20 }, (_, at) => `A-${at + 1}`);
  const orders = (wrong: string) => ndjson(...ids.with(4, wrong).map((id): [string, string] => [id, 'Aisha']));
  const file = await files.write('whole.ndjson', orders(''));
  const batches = ['--batch-size', '5'];
  expect(await send(sender, [file, ...batches])).toMatchObject({ code: 1 });
  await files.write('whole.ndjson', orders('A-5'));
  expect(await send(sender, [file, ...batches, '--only-failed'])).toMatchObject({ code: 0 });
  const { code, stdout, stderr } = await send(sender, [file, ...batches]);
  // The batch with the corrected order is another one; the others replay their receipts.
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(
    /^ {2}20 {2}orders read\n {2}15 {2}written\n {3}5 {2}sent before, with the same content \(duplicate\)\nin .*\n$/,
  );
  expect(await ordersOf(sender)).toHaveLength(20);
});

test('duplicates with the same and with other content are counted separately', async () => {
  const sender = await newSender();
  const first = await files.write('first.ndjson', ndjson(['E-1', 'Aisha'], ['E-2', 'Omar'], ['E-3', 'Omar']));
  await send(sender, [first]);
  const second = await files.write('second.ndjson', ndjson(['E-1', 'Aisha'], ['E-2', 'Omar'], ['E-3', 'Fatima']));
  const { code, stdout } = await send(sender, [second, '--batch-size', '2']);
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(
      /\n {2}2 {2}sent before, with the same content \(duplicate\)\n {2}1 {2}sent before, with other content \(duplicate\)\n/,
    ),
  ]);
});

test('a dry run lists repeated ids with their lines and fails', async () => {
  const file = await files.write('dry.ndjson', ndjson(['D-1', 'Aisha'], ['D-2', 'Omar'], ['D-1', 'Fatima']));
  const nowhere = { url: '', key: '' };
  const { code, stdout, stderr } = await send(nowhere, [file, '--dry-run']);
  expect([code, stdout, stderr]).toEqual([
    1,
    expect.stringContaining('order 3, line 3 (D-1) has the id of order 1\n'),
    'Some orders have the id of another one.\n',
  ]);
  const { stdout: json } = await send(nowhere, [file, '--dry-run', '--json']);
  expect(JSON.parse(json)).toMatchObject({
    repeated: 1,
    repeats: [{ place: 3, line: 3, source_order_id: 'D-1', repeats: 1 }],
  });
});
