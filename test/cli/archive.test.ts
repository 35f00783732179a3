import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, rmdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeEach, expect, test } from '@jest/globals';
import { createPartitions } from '@orders/database/partitions/create-partitions.ts';
import { until } from '@orders/test-services/until.ts';
import { hold, whoWait } from '../harness/barriers.ts';
import { makeDirectory } from '../harness/directory.ts';
import { QUEUE_KIND } from '../harness/queue.ts';
import { runOrders } from '../harness/run-command.ts';
import { startStack } from '../harness/stack.ts';

const stack = await startStack(QUEUE_KIND);
const { knex, db } = stack.database;
const [{ api }, account] = [await stack.intake(), await stack.account()];
await stack.worker();

let directory: string;
beforeEach(() => {
  directory = makeDirectory();
});

const beganAgo = (firstId: unknown, span: string) =>
  knex('order_ranges')
    .where({ first_id: firstId })
    .update({ began_at: knex.raw('now() - ?::interval', [span]) });
const currentRange = async () => (await knex('order_ranges').max('first_id as id').first())?.id;

/** Lets the current month be over since a time. @returns its first id. */
async function endMonth(since = '24 months'): Promise<number> {
  const ended = await currentRange();
  await beganAgo(ended, '25 months');
  await createPartitions(db);
  await beganAgo(await currentRange(), since);
  return Number(ended);
}

const send = (source_order_id: string, more: object = {}) => api.process(account, { source_order_id, ...more });
const reject = (ids: string[]) => knex('orders').whereIn('source_order_id', ids).update({ review_state: 'rejected' });
const archive = (...more: string[]) => runOrders(stack, 'archive', '--to', directory, '--older-than', '365d', ...more);
const files = () => readdir(directory);
const linesOf = async (name: string) =>
  gunzipSync(await readFile(join(directory, name)))
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
const partitions = async () =>
  (
    await knex.raw("select inhrelid::regclass::text as name from pg_inherits where inhparent = 'orders'::regclass")
  ).rows.map(({ name }: { name: string }) => name);

/** Orders of a month that has ended, rejected. */
async function oldOrders(name: string, count = 2): Promise<{ firstId: number; ids: string[] }> {
  const ids = Array.from({ length: count }, (_, index) => `${name}-${index}`);
  for (const id of ids) await send(id, { customer: { name: `Customer of ${id}` }, total: '12.50' });
  await reject(ids);
  return { firstId: await endMonth(), ids };
}

test('an old month is stored in a file, read back and dropped; its keys still prevent a second order', async () => {
  const { firstId, ids } = await oldOrders('first');
  const { order_id } = await knex('orders').where({ source_order_id: ids[0] }).first();
  const ofOrder = { account_id: account.id, order_id };
  await knex('order_notes').insert({ ...ofOrder, by: 'somebody@example.com', text: 'Called' });
  await knex('order_prints').insert({ ...ofOrder, printed_by: 'somebody@example.com' });
  await knex('order_snoozes').insert({ ...ofOrder, until: new Date(), by: 'somebody@example.com' });
  const { code, stdout } = await archive('--json');
  expect(code).toBe(0);
  const [{ file, sha256, ...month }] = JSON.parse(stdout);
  expect(month).toEqual({
    month: expect.stringMatching(/^\d{4}-\d\d$/),
    first_order_id: firstId,
    orders: 2,
    state: 'dropped',
    reason: null,
  });
  expect(await files()).toEqual([file]);
  expect((await stat(join(directory, file))).mode & 0o777).toBe(0o600);
  const text = gunzipSync(await readFile(join(directory, file)));
  expect(createHash('sha256').update(text).digest('hex')).toBe(sha256);
  expect(await linesOf(file)).toMatchObject([
    {
      order: { source_order_id: ids[0], customer_name: `Customer of ${ids[0]}`, total: 12.5 },
      notes: [{ text: 'Called' }],
    },
    { order: { source_order_id: ids[1] }, notes: [], cancellation_request: null },
  ]);
  expect(await partitions()).not.toContain(`orders_${firstId}`);
  expect(await knex('order_notes')).toEqual([]);
  expect(await knex('order_prints')).toEqual([]);
  expect(await knex('order_snoozes')).toEqual([]);

  const again = await send(ids[0] as string, { total: '99' });
  expect(again).toMatchObject({ status: 'duplicate', order_id: null });
  expect(await knex('orders').whereIn('source_order_id', ids)).toEqual([]);
  expect(JSON.parse((await archive('--json')).stdout)).toEqual([]);
  expect((await knex('audit_events').where({ action: 'orders_archived' })).length).toBe(1);
});

test('senders and operators are told what became of an archived order', async () => {
  const { ids } = await oldOrders('told');
  const phone = '050 765 4321';
  await send('told-2', { customer: { phone } });
  await send('told-3', { delivery_instructions: `Call ${phone}` });
  await reject(['told-2', 'told-3']);
  await endMonth();
  const [first, second] = JSON.parse((await archive('--json')).stdout);
  expect([first, second]).toMatchObject([{ orders: 2 }, { orders: 2 }]);
  expect((await api.cancel(account, { source_order_id: ids[0] })).body).toEqual({
    outcome: 'archived',
    source_order_id: ids[0],
    order_id: expect.any(Number),
  });
  expect((await api.reconcile(account, [...ids, 'told-never'])).body.results).toMatchObject([
    { status: 'written', receipt_id: null, order_id: expect.any(Number), received_at: null },
    { status: 'written' },
    { status: 'never_seen', order_id: null },
  ]);
  await send(ids[1] as string);
  expect((await api.reconcile(account, [ids[1] as string])).body.results).toMatchObject([
    { status: 'duplicate', receipt_id: expect.any(String), order_id: expect.any(Number) },
  ]);
  const erase = (...more: string[]) =>
    runOrders(stack, 'erase', String(account.id), '--phone', phone, '--archives', directory, ...more);
  expect(JSON.parse((await erase('--json', '--dry-run')).stdout).archives).toEqual([{ file: second.file, orders: 2 }]);
  expect((await erase()).stdout).toContain(`The archive ${second.file} has the customer in 2 orders.`);
  await writeFile(join(directory, 'orders-damaged.ndjson.gz'), 'damaged');
  expect(await erase()).toMatchObject({
    code: 1,
    stderr: 'orders-damaged.ndjson.gz is damaged or is no archive of orders; nothing was erased.\n',
  });
});

test('a month is kept while there is work about one of its orders, and a young one is not archived', async () => {
  const { firstId } = await oldOrders('young');
  await beganAgo(await currentRange(), '1 day');
  expect((await archive()).stdout).toBe('No month is that old.\n');
  await beganAgo(await currentRange(), '24 months');
  for (const [review_state, why] of [
    ['needs_review', 'need review'],
    ['awaiting_payment', 'await payment'],
  ]) {
    await knex('orders').where({ source_order_id: 'young-1' }).update({ review_state });
    const { code, stderr } = await archive();
    expect([code, stderr.replace(/\d{4}-\d\d/, 'a month')]).toEqual([
      1,
      `0 months were archived, and a month was kept: of its orders, 1 ${why}.\n`,
    ]);
  }
  expect(await files()).toEqual([]);
  await knex('orders').where({ source_order_id: 'young-1' }).update({ review_state: 'needs_review' });
  const moveTo = (moved_to: string | null) => knex('accounts').where({ account_id: account.id }).update({ moved_to });
  const tried = async () => JSON.parse((await archive('--dry-run', '--json')).stdout);
  // The other installation has what is to be done.
  await moveTo('https://orders-2.example.com');
  expect(await tried()).toMatchObject([{ state: 'due' }]);
  await moveTo(null);
  expect(await tried()).toMatchObject([{ state: 'kept' }]);
  await reject(['young-1']);
  expect(await tried()).toMatchObject([{ state: 'due', orders: null }]);
  expect(JSON.parse((await archive('--keep', '--json')).stdout)).toMatchObject([{ state: 'stored', orders: 2 }]);
  // Stored and not dropped, an order can still be changed; the file is then another one.
  await knex('orders').where({ source_order_id: 'young-0' }).update({ review_reason: 'late' });
  expect((await archive()).stderr).toMatch(/exists with other content; move it away/);
  expect(await partitions()).toContain(`orders_${firstId}`);
  for (const name of await files()) await rm(join(directory, name));
  expect((await archive()).code).toBe(0);
});

test('nothing changes a month while it is stored, and what is changing it is waited for', async () => {
  const { firstId, ids } = await oldOrders('frozen');
  const editing = await hold(
    knex,
    `update orders set review_reason = 'last words' where source_order_id = '${ids[0]}'`,
  );
  const archiving = archive('--json');
  await whoWait(knex, 1, 'relation');
  const reading = await hold(knex, `lock table order_notes in access exclusive mode`);
  await editing.release();
  await until(
    'the month cannot be changed',
    async () =>
      (
        await knex.raw("select from pg_trigger where tgname = 'being_archived' and tgrelid = ?::regclass", [
          `orders_${firstId}`,
        ])
      ).rows.length > 0,
  );
  await expect(reject(ids)).rejects.toMatchObject({ code: '55006' });
  await reading.release();
  const [{ file }] = JSON.parse((await archiving).stdout);
  expect(await linesOf(file)).toMatchObject([{ order: { review_reason: 'last words' } }, {}]);
  expect(await partitions()).not.toContain(`orders_${firstId}`);
});

test('a file that cannot be written leaves everything as it was', async () => {
  const { firstId, ids } = await oldOrders('unwritable');
  const [{ file }] = JSON.parse((await archive('--dry-run', '--json')).stdout);
  await symlink('/dev/full', join(directory, `${file}.partial`));
  expect(await archive()).toMatchObject({ code: 1, stderr: `${file} cannot be written and read back (ENOSPC).\n` });
  expect(await files()).toEqual([]);
  expect(await partitions()).toContain(`orders_${firstId}`);
  expect(await reject(ids)).toBe(2);
  await mkdir(join(directory, file));
  expect((await archive()).stderr).toBe(`${file} cannot be written and read back (EISDIR).\n`);
  expect(await reject(ids)).toBe(2);
  await rmdir(join(directory, file));
  expect((await archive()).code).toBe(0);
});

test('an interruption at any point leaves all orders in Postgres or in a whole file, and the next call goes on', async () => {
  const { firstId, ids } = await oldOrders('interrupted');
  const [{ file }] = JSON.parse((await archive('--dry-run', '--json')).stdout);
  // Killed while it wrote: the trigger is there, and a part of the file.
  await knex.raw(
    `create trigger being_archived before update or delete on orders_${firstId} for each row execute function keep_archived_orders()`,
  );
  await writeFile(join(directory, `${file}.partial`), 'half');
  expect(JSON.parse((await archive('--keep', '--json')).stdout)).toMatchObject([{ orders: 2, state: 'stored' }]);
  // Killed before it dropped them: the same file again.
  expect(JSON.parse((await archive('--json')).stdout)).toMatchObject([{ orders: 2, state: 'dropped' }]);
  expect((await linesOf(file)).map(({ order }) => order.source_order_id)).toEqual(ids);
});

test.each([
  ['no directory', ['--older-than', '365d'], /--to/],
  [
    'a directory that does not exist',
    ['--to', '/nowhere', '--older-than', '365d'],
    /--to takes a directory that exists/,
  ],
  ['no age', ['--to', '.'], /Give --older-than, or set ORDER_RETENTION/],
  ['an age without a unit', ['--to', '.', '--older-than', '365'], /--older-than takes a time span/],
])('%s is a usage error', async (_, given, message) => {
  const { code, stderr } = await runOrders(stack, 'archive', ...given);
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
});
