import { expect, test } from '@jest/globals';
import { createPartitions } from '@orders/database/partitions/create-partitions.ts';
import { until } from '@orders/test-services/until.ts';
import { hold, whoWait } from '../harness/barriers.ts';
import { createTestDatabase } from '../harness/database.ts';
import { QUEUE_KIND } from '../harness/queue.ts';
import { withStack } from '../harness/stack.ts';
import { useDatabase } from '../harness/use-stack.ts';

const WIDTH = 100_000_000;

const { db } = useDatabase();

const partitions = async () => {
  const { rows } = await db.knex.raw(
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'orders'::regclass",
  );
  return rows.map(({ name }: { name: string }) => name).toSorted();
};
/** Receipts may get partitions too, when a week begins. */
const createRanges = async () => (await createPartitions(db.db)).filter((name) => name.startsWith('orders_'));
const nextId = async () => Number((await db.knex.raw("select nextval('order_ids') as id")).rows[0].id);
const laterByMonths = () => db.knex.raw("update order_ranges set began_at = began_at - interval '2 months'");

test('ids go on in the partition of the next range once a month, and there is always one ahead', async () => {
  expect(await partitions()).toEqual(['orders_0', `orders_${WIDTH}`]);
  expect(await nextId()).toBe(1);
  expect(await createRanges()).toEqual([]);
  expect(await nextId()).toBe(2);
  await laterByMonths();
  await createRanges();
  expect(await nextId()).toBe(WIDTH);
  expect(await createRanges()).toEqual([`orders_${2 * WIDTH}`]);
  expect(await nextId()).toBe(WIDTH + 1);
});

test.each([
  ['day', 29, ['2031-03-05', '2031-03-06'], '2031-04-02'],
  ['week', 5, ['2031-02-27', '2031-03-06'], '2031-03-27'],
  ['month', 2, ['2031-03-01', '2031-04-01'], '2031-04-01'],
] as const)('receipts have partitions of a %s, if that is set', async (width, least, [first, second], last) => {
  const separate = await createTestDatabase();
  const created = await createPartitions(separate.db, Date.parse('2031-03-05T12:00:00Z'), { width });
  const receipts = created.filter((name) => name.startsWith('receipts_'));
  const name = (date: string) => `receipts_${date.replaceAll('-', '')}`;
  expect(receipts.length).toBeGreaterThanOrEqual(least);
  expect([receipts[0], receipts[1], receipts.at(-1)]).toEqual([name(first), name(second), name(last)]);
  // Wider or narrower ones later fill what is left.
  for (const other of ['day', 'week', 'month'] as const)
    await createPartitions(separate.db, Date.parse('2031-03-20T12:00:00Z'), { width: other });
  const { rows } = await separate.knex.raw(
    "select count(*)::int as count from pg_inherits where inhparent = 'receipts'::regclass and inhrelid::regclass::text = any(?)",
    [receipts],
  );
  expect(rows[0].count).toBe(receipts.length);
  await separate.close();
});

test('two workers that begin a month at once move the ids on once, and never back', async () => {
  await laterByMonths();
  const held = await hold(db.knex, 'lock table order_ranges in access exclusive mode');
  const begun = Promise.all([1, 2].map(() => db.db.pool.query('select begin_order_range() as begun')));
  await whoWait(db.knex, 2, 'relation');
  await held.release();
  const before = await nextId();
  expect((await begun).map(({ rows }) => rows[0].begun).toSorted()).toEqual([false, true]);
  expect(await nextId()).toBeGreaterThan(before);
});

test('a range that is full goes on in the next one, which then gets one ahead', async () => {
  const last = (await db.knex.raw('select last_value from order_ids')).rows[0].last_value;
  const end = (Math.floor(Number(last) / WIDTH) + 1) * WIDTH;
  await db.knex.raw('select setval(?, ?)', ['order_ids', end]);
  await createPartitions(db.db);
  expect(await partitions()).toContain(`orders_${end + WIDTH}`);
});

test('an order without a partition waits for one, and uses up no attempt', () =>
  withStack(QUEUE_KIND, async (stack) => {
    const [{ api }, account] = [await stack.intake(), await stack.account()];
    await stack.worker({ RETRY_ATTEMPTS: '1' });
    await stack.database.knex.raw('select setval(?, ?)', ['order_ids', 7 * WIDTH]);
    const { body } = await api.order(account, { source_order_id: 'early' });
    const lastId = async () => Number((await stack.database.knex('order_ids').first('last_value')).last_value);
    await until('the worker has tried to write it', async () => (await lastId()) > 7 * WIDTH);
    await createPartitions(stack.database.db);
    expect((await api.final(account, body.receipt_id)).body).toMatchObject({ status: 'written', attempts: 1 });
  }));

test('an order number sequence that is behind after a move uses up no attempt', () =>
  withStack(QUEUE_KIND, async (stack) => {
    const [{ api }, account] = [await stack.intake(), await stack.account()];
    await stack.worker({ RETRY_ATTEMPTS: '1' });
    const send = async (source_order_id: string) => {
      const { body } = await api.order(account, { source_order_id });
      return (await api.final(account, body.receipt_id)).body;
    };
    for (const id of ['one', 'two', 'three', 'four', 'five'])
      expect(await send(id)).toMatchObject({ status: 'written' });
    const { rows } = await stack.database.knex.raw("select setval('order_ids', 1, false)");
    expect(rows).toHaveLength(1);
    expect(await send('moved')).toMatchObject({ status: 'written', attempts: 1 });
    expect(await send('moved too')).toMatchObject({ status: 'written', attempts: 1 });
  }));
