import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { link, readFile, rm, symlink } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { QUEUE_KINDS } from '../harness/queue.ts';
import { MAIN, type Sender, send, useDirectory, withoutProgress } from '../harness/send.ts';
import { type Stack, startStack, type TestAccount } from '../harness/stack.ts';

let stack: Stack;
let url: string;
const files = useDirectory();

beforeAll(async () => {
  stack = await startStack(QUEUE_KINDS[0] ?? 'postgres');
  url = (await stack.intake()).api.url;
  await stack.worker();
});

async function newSender(): Promise<Sender & TestAccount> {
  return { ...(await stack.account({ signing: true })), url };
}
const ndjson = (ids: readonly string[]) => ids.map((id) => `${JSON.stringify({ source_order_id: id })}\n`).join('');
const receiptsOf = ({ id }: TestAccount) => stack.database.knex('receipts').where({ account_id: id });

test.each([
  ['--failed', 'FILE itself', 'in.ndjson'],
  ['--failed', 'a link to FILE', 'in.link'],
  ['--failed', 'another name of FILE', 'in.hard'],
  ['--journal', 'FILE itself', 'in.ndjson'],
  ['--failed', 'the file of --map', 'map.json'],
  ['--journal', 'the file of --map', 'map.json'],
  ['--failed', 'notes', 'notes.txt'],
  ['--journal', 'notes', 'notes.txt'],
  ['--journal', 'notes without a line break', 'notes.bare'],
  ['--failed', 'other orders', 'other.ndjson'],
  ['--journal', 'other orders', 'other.ndjson'],
  ['--journal', 'a directory', '.'],
  ['--failed', 'a directory', '.'],
])('%s that is %s is rejected and not changed, also with --restart', async (option, _, name) => {
  const sender = await newSender();
  const orders = 'source_order_id\nO-1\n';
  await files.write('in.ndjson', orders);
  await files.write('map.json', '{"source_order_id":"/source_order_id"}\n');
  await files.write('notes.txt', 'milk\nbread\n');
  await files.write('notes.bare', '{"milk":1}');
  await files.write('other.ndjson', ndjson(['X-1']));
  await Promise.all(['in.link', 'in.hard'].map((one) => rm(files.path(one), { force: true })));
  await symlink(files.path('in.ndjson'), files.path('in.link'));
  await link(files.path('in.ndjson'), files.path('in.hard'));
  const names = ['in.ndjson', 'map.json', 'notes.txt', 'notes.bare', 'other.ndjson'];
  const before = await Promise.all(names.map((one) => files.read(one)));
  const args = [files.path('in.ndjson'), '--format', 'csv', '--map', files.path('map.json'), option, files.path(name)];
  for (const more of [[], ['--restart']]) {
    const { code, stdout } = await send(sender, [...args, ...more]);
    expect([code === 0, stdout]).toEqual([false, '']);
    const left = names.filter((one) => existsSync(files.path(one)));
    expect(left).toEqual(names);
    expect(await Promise.all(names.map((one) => files.read(one)))).toEqual(before);
  }
  expect(await receiptsOf(sender)).toEqual([]);
});

test('the journal and the file of failures must be two files', async () => {
  const file = await files.write('one.ndjson', ndjson(['1']));
  const args = [file, '--journal', files.path('both'), '--failed', files.path('both')];
  expect(await send(await newSender(), args)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('must be two files'),
  });
  expect(existsSync(files.path('both'))).toBe(false);
});

test('a wrong address is corrected in the next run without further options', async () => {
  const sender = await newSender();
  const file = await files.write('corrected.ndjson', ndjson(['A-1']));
  const wrong = await send({ ...sender, url: 'http://127.0.0.1:9' }, [file, '--give-up-after', '1s']);
  expect(wrong.code).toBe(1);
  expect(await send(sender, [file])).toMatchObject({ code: 0 });
});

test('a file with new content each day needs no --restart', async () => {
  const sender = await newSender();
  for (const ids of [['D-1', 'D-2'], ['D-3', 'D-4'], ['D-5'], ['D-6', 'D-7', 'D-8']]) {
    const file = await files.write('daily.ndjson', ndjson(ids));
    const { code, stdout } = await send(sender, [file, '--json']);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { sent_before: 0, statuses: { written: ids.length } }]);
  }
  const { stdout } = await send(sender, [files.path('daily.ndjson')]);
  expect(stdout).toContain('nothing was left to send');
});

test('a channel or strictness other than in the journal is rejected', async () => {
  const sender = await newSender();
  const file = await files.write('way.ndjson', ndjson(['W-1', 'W-2']));
  await send(sender, [file]);
  for (const option of ['--webhook', '--strict']) {
    const { code, stderr } = await send(sender, [file, option]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(`sent without ${option}: leave it out, .*--restart`)]);
  }
  expect(await receiptsOf(sender)).toHaveLength(2);
});

test.each([
  ['a batch without its key', 1, '{"batch":0,"orders":2,"replaces":[]}'],
  ['a batch too early', 1, '{"batch":7,"orders":2,"key":"x","replaces":[]}'],
  ['null', 2, 'null'],
  ['answers that are none', 2, '{"batch":0,"results":[null,4]}'],
  ['an answer too few', 2, '{"batch":0,"results":[[1,1,"J-1","x"]]}'],
  ['answers to no batch', 2, '{"batch":3,"results":[]}'],
])('a damaged journal (%s) is reported in one line, and --restart starts again', async (_, at, line) => {
  const sender = await newSender();
  const file = await files.write('damaged.ndjson', ndjson(['J-1', 'J-2']));
  const name = 'damaged.ndjson.orders-send.jsonl';
  await send(sender, [file, '--restart']);
  const lines = (await files.read(name)).split('\n');
  await files.write(name, lines.with(at, line).join('\n'));
  const { code, stderr } = await send(sender, [file]);
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^The journal .* is damaged after batch \d: give --restart/),
  ]);
  expect(await send(sender, [file, '--restart'])).toMatchObject({ code: 0 });
});

test.each([['--only-failed'], ['--restart']])('with %s a dead order gets a new receipt', async (option) => {
  const sender = await newSender();
  const file = await files.write('dead.ndjson', ndjson(['Z-1', 'Z-2', 'Z-3']));
  await send(sender, [file, '--restart']);
  const { knex } = stack.database;
  await knex('orders').where({ account_id: sender.id, source_order_id: 'Z-2' }).delete();
  await receiptsOf(sender)
    .where({ source_order_id: 'Z-2' })
    .update({ state: 'dead', order_id: null, error_code: 'attempts_exhausted' });
  const dead = await send(sender, [file, '--json']);
  expect([dead.code, JSON.parse(dead.stdout)]).toMatchObject([
    1,
    { statuses: { written: 2, dead: 1 }, failures: [{ place: 2, source_order_id: 'Z-2', status: 'dead' }] },
  ]);
  const { code, stdout } = await send(sender, [file, option, '--json']);
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { statuses: { dead: 0 }, failed_file: null }]);
  const states = await receiptsOf(sender).where({ source_order_id: 'Z-2' }).orderBy('received_at').pluck('state');
  expect(states).toEqual(['dead', 'written']);
  // Not sent a third time, because the journal records which receipts were replaced.
  expect(await send(sender, [file])).toMatchObject({ code: option === '--restart' ? 0 : 1 });
  expect(await receiptsOf(sender).where({ source_order_id: 'Z-2' })).toHaveLength(2);
});

test('several orders on one line are told apart, also when they are sent again', async () => {
  const sender = await newSender();
  const ids = ['"L-1"', '2', '"L-3"'];
  const array = (texts: string[]) => `[${texts.map((id) => `{"source_order_id":${id}}`).join(',')}]`;
  const file = await files.write('line.json', array(ids));
  expect((await send(sender, [file])).stdout).toContain('order 2, line 1: validation_failed');
  await files.write('line.json', array(ids.with(1, '"L-2"')));
  const { code, stdout } = await send(sender, [file, '--only-failed', '--json']);
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { read: 1, statuses: { written: 1 } }]);
});

test('an id that appears twice in the file is reported', async () => {
  const file = await files.write('twice.ndjson', ndjson(['T-1', 'T-2', 'T-1']));
  expect((await send(await newSender(), [file])).stdout).toContain(
    '3  orders read, 1 with the id of an order before it\n',
  );
  expect((await send(await newSender(), [file, '--dry-run'])).stdout).toContain('1 with the id of an order before it');
});

test('a file of failures that exceeds the disk space is reported and not left incomplete', async () => {
  const sender = await newSender();
  const file = await files.write('full.ndjson', ndjson(['F-1', 'F'.repeat(4000)]));
  await send(sender, [file]);
  const whole = await files.read('full.ndjson.failed.jsonl');
  const env = { PATH: process.env.PATH ?? '', NODE_ENV: 'production', ORDERS_URL: url, ORDERS_API_KEY: sender.key };
  // A file size limit of one or two kilobytes cuts writes short like a full disk.
  const words = ['-c', 'ulimit -f 2; exec "$@"', 'sh', process.execPath, MAIN, 'send', file];
  const child = spawn('sh', words, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  expect([code, withoutProgress(stderr)]).toEqual([
    1,
    expect.stringMatching(
      /^\S+full\.ndjson\.failed\.jsonl\.new cannot be written \(EFBIG\)\. The same command resumes /,
    ),
  ]);
  expect(existsSync(files.path('full.ndjson.failed.jsonl.new'))).toBe(false);
  expect(await files.read('full.ndjson.failed.jsonl')).toBe(whole);
});

test('a run leaves only its own files next to the input', async () => {
  const directory = files.path('');
  const before = readdirSync(directory);
  const file = await files.write('tidy.ndjson', `${ndjson(['Y-1'])}x\n`);
  await send(await newSender(), [file]);
  const left = readdirSync(directory).filter((name) => !before.includes(name));
  expect(left.toSorted()).toEqual(['tidy.ndjson', 'tidy.ndjson.failed.jsonl', 'tidy.ndjson.orders-send.jsonl']);
  expect(await readFile(file, 'utf8')).toBe(`${ndjson(['Y-1'])}x\n`);
});

describe('orders that moved since they failed', () => {
  const lines = (ids: readonly unknown[]) => ids.map((id) => `${JSON.stringify({ source_order_id: id })}\n`).join('');

  test.each([
    ['an earlier one was removed', ['O-1', 'O-2', 3, 'O-4'], ['O-2', 'O-3', 'O-4'], /is of 4 orders, and .* has 3:/],
    ['the failed one was removed at the end', ['O-1', 'O-2', 3], ['O-1', 'O-2'], /is of 3 orders, and .* has 2:/],
    ['they were sorted', ['O-1', 'O-2'], ['O-2', 'O-1'], /^Order 2 of .* has another source_order_id than /],
  ])('are not sent if %s, and the failures stay recorded', async (_, before, after, complaint) => {
    const sender = await newSender();
    const file = await files.write('moved.ndjson', lines(before));
    await send(sender, [file, '--restart']);
    const [place, id] = before.includes(3) ? [3, null] : [2, 'O-2'];
    const failure = { place, of: before.length, line: place, source_order_id: id, receipt_id: null, status: 'refused' };
    const name = 'moved.ndjson.failed.jsonl';
    if (id) await files.write(name, `${JSON.stringify({ ...failure, code: 'x', detail: '' })}\n`);
    else expect(JSON.parse(await files.read(name))).toMatchObject(failure);
    const onRecord = await files.read(name);
    const known = await receiptsOf(sender);
    await files.write('moved.ndjson', lines(after));
    for (const more of [[], ['--dry-run']]) {
      const { code, stdout, stderr } = await send(sender, [file, '--only-failed', ...more]);
      expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(complaint)]);
      expect(stderr).toMatch(
        /correct orders where they stand, or send all of them without --only-failed; .*twice\.\n$/,
      );
    }
    expect(await files.read(name)).toBe(onRecord);
    expect(await receiptsOf(sender)).toEqual(known);
    expect(await send(sender, [file, '--json'])).toMatchObject({ code: 0 });
  });

  test('do not include an order with a corrected id', async () => {
    const sender = await newSender();
    const file = await files.write('long.ndjson', lines(['I-1', 'I'.repeat(256)]));
    await send(sender, [file]);
    await files.write('long.ndjson', lines(['I-1', 'I-2']));
    expect(await send(sender, [file, '--only-failed'])).toMatchObject({ code: 0 });
    expect(await receiptsOf(sender)).toHaveLength(2);
  });
});
