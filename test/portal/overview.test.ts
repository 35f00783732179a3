import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { writeOrders } from '@orders/database/orders/write-orders.ts';
import { createPartitions } from '@orders/database/partitions/create-partitions.ts';
import { recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { redriveReceipts } from '@orders/database/receipts/redrive-receipts.ts';
import { firstUuidAt } from '@orders/database/receipts/uuids.ts';
import type { Warning } from '@orders/domain/normalize/warnings.ts';
import { normalizeSent } from '@orders/domain/normalize-order.ts';
import { type Activity, readActivity } from '@orders/portal/overview/read-activity.ts';
import { connectionOf, openKnex } from '@orders/test-services/open-knex.ts';
import { until } from '@orders/test-services/until.ts';
import { dropOldPartitions, removeLeftovers } from '@orders/worker/maintenance/drop-partitions.ts';
import { rollUpActivity } from '@orders/worker/maintenance/roll-up-activity.ts';
import { claimReceipts } from '@orders/worker/receipts/claim-receipts.ts';
import { failReceipt } from '@orders/worker/receipts/fail-receipt.ts';
import { lockTables, whoWait } from '../harness/barriers.ts';
import { expectAccessible, openPageAs } from '../harness/browser.ts';
import { stopClock } from '../harness/clock.ts';
import { poisonOrders, stopPoisoning } from '../harness/damage-body.ts';
import { createPerson, signIn } from '../harness/people.ts';
import { testWith } from '../harness/programs.ts';
import { useStack } from '../harness/use-stack.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const HOUR_VIEW = { rangeMs: 60 * MINUTE, stepMs: 5 * MINUTE };

const testInBrowser = testWith('chromium');

const { stack, knex, db, portal, database } = useStack({ portal: true, database: true });

/** Inserts a received receipt whose id has the given time. */
async function receiveAt(time: number, accountId: number, sourceOrderId: string = randomUUID()): Promise<string> {
  const receiptId = `${firstUuidAt(time).slice(0, 14)}7${randomUUID().slice(15)}`;
  const body = Buffer.from(JSON.stringify({ source_order_id: sourceOrderId }));
  const receipt = { receiptId, accountId, channel: 'rest', sourceOrderId, idempotencyKey: null, body } as const;
  await recordReceipts(database, receiptId, 3_600_000, [receipt]);
  return receiptId;
}

async function claim(receiptId: string): Promise<string> {
  const leaseId = randomUUID();
  await claimReceipts(database, [receiptId], leaseId, 60_000);
  return leaseId;
}

async function write(receiptId: string, accountId: number): Promise<void> {
  const leaseId = await claim(receiptId);
  const order = normalizeSent({ source_order_id: randomUUID() });
  await writeOrders(database, leaseId, [receiptId], [{ ...order, receiptId, accountId }]);
}

async function fail(receiptId: string, maxAttempts: number): Promise<void> {
  const leaseId = await claim(receiptId);
  const error = { code: 'write_refused', sqlstate: null, constraint: null };
  await failReceipt(database, { receiptId, leaseId, delayMs: 60_000, maxAttempts, error, warnings: [] });
}

/** A run without its limit of time, after which it leaves buckets to the next one. */
async function rollUp(minIntervalMs?: number): Promise<number> {
  const goOn = stopClock();
  return rollUpActivity(db, minIntervalMs).finally(goOn);
}

const bucketAt = async (accountId: number, time: number) =>
  knex('activity')
    .where({ account_id: accountId, bucket_start: new Date(Math.floor(time / (5 * MINUTE)) * 5 * MINUTE) })
    .first();

describe('the rollup', () => {
  test('equals a plain count after orders, duplicates, dead and redriven receipts', async () => {
    const intake = await stack.intake();
    const worker = await stack.worker({ RETRY_ATTEMPTS: '2' });
    const accounts = [await stack.account(), await stack.account()] as const;
    await poisonOrders(knex);
    const sent = await Promise.all(
      Array.from({ length: 120 }, (_, index) => {
        const isPoison = index % 20 === 7;
        const items = [
          { name: 'x', quantity: index % 3 === 0 ? '2' : 1 },
          { name: 'y', quantity: index % 5 === 0 ? '3' : 1 },
        ];
        const order = {
          source_order_id: `mixed-${index % 90}`,
          items,
          ...(isPoison && { order_number: 'poison' }),
          ...(index % 4 === 0 && { customer: { phone: 'none' } }),
        };
        return intake.api.order(accounts[index % 5 === 0 || index === 7 ? 1 : 0], order);
      }),
    );
    await rollUp();
    const ids = sent.map(({ body }) => body.receipt_id as string);
    await until('each is final', async () => {
      const rows = await knex('receipts').whereIn('receipt_id', ids).whereIn('state', ['written', 'duplicate', 'dead']);
      return rows.length === ids.length;
    });
    await rollUp();
    await stopPoisoning(knex);
    const dead = await knex('dead_letters').where({ account_id: accounts[0].id }).pluck('receipt_id');
    expect(dead.length).toBeGreaterThan(2);
    for (const receiptId of dead.slice(1)) expect(await redriveReceipts(db, [receiptId])).toEqual([receiptId]);
    for (const receiptId of dead.slice(1)) await intake.api.final(accounts[0], receiptId);
    await worker.close();
    await knex.raw(
      `update receipts r set updated_at = received_at + n * interval '7 milliseconds'
       from (select receipt_id, row_number() over (order by receipt_id) as n from receipts) as numbered
       where r.receipt_id = numbered.receipt_id`,
    );
    await rollUp();
    for (const { id } of accounts) await expectPlainCount(id);
  });

  test('settles a bucket when it is over and all its receipts are final, and a redrive reopens the bucket', async () => {
    const { id } = await stack.account();
    const then = Date.now() - 30 * MINUTE;
    const [written, failing] = [await receiveAt(then, id), await receiveAt(then, id)];
    await write(written, id);
    // Once as a new bucket and once more as one that is not settled.
    await knex('activity_clock').update({ computed_to: new Date(then - 10 * MINUTE) });
    await rollUp();
    expect(await bucketAt(id, then)).toMatchObject({ accepted: 2, written: 1, dead: 0, settled: false });
    await fail(failing, 2);
    await rollUp();
    expect(await bucketAt(id, then)).toMatchObject({ failed: 1, settled: false });
    await knex('receipts')
      .where({ receipt_id: failing })
      .update({ next_attempt_at: new Date(0) });
    await fail(failing, 2);
    await rollUp();
    expect(await bucketAt(id, then)).toMatchObject({ accepted: 2, written: 1, failed: 0, dead: 1, settled: true });
    await redriveReceipts(db, [failing]);
    expect(await bucketAt(id, then)).toMatchObject({ settled: false });
    await rollUp();
    expect(await bucketAt(id, then)).toMatchObject({ dead: 0, settled: false });
    await write(failing, id);
    await rollUp();
    expect(await bucketAt(id, then)).toMatchObject({ written: 2, dead: 0, settled: true });
  });

  test('includes a redrive that commits while its bucket is being computed', async () => {
    const { id } = await stack.account();
    const then = Date.now() - 30 * MINUTE;
    // The bucket is then computed only once below, not a second time as a new bucket.
    await rollUp();
    const dead = await receiveAt(then, id);
    await fail(dead, 1);
    // A bucket that is not settled is computed.
    await knex('activity').insert({
      account_id: id,
      bucket_start: new Date(Math.floor(then / (5 * MINUTE)) * 5 * MINUTE),
    });
    const redrive = await knex.transaction();
    expect(await redriveReceipts(connectionOf(redrive), [dead])).toEqual([dead]);
    const rolling = rollUp();
    await whoWait(knex, 1, 'transactionid');
    await redrive.commit();
    await rolling;
    expect(await bucketAt(id, then)).toMatchObject({ settled: false });
    await rollUp();
    expect(await bucketAt(id, then)).toMatchObject({ accepted: 1, dead: 0 });
  });

  test('runs in one worker at a time and not again right afterwards', async () => {
    const other = openKnex({ url: stack.database.url, applicationName: 'another worker' });
    const lock = await lockTables(knex, 'activity');
    const first = rollUpActivity(connectionOf(other));
    await whoWait(knex, 1, 'relation');
    expect(await rollUp()).toBe(0);
    await lock.release();
    expect(await first).toBeGreaterThan(0);
    await other.destroy();
    expect(await rollUp(DAY)).toBe(0);
    expect(await rollUp()).toBeGreaterThan(0);
  });

  test('is dropped with the week of its receipts, and so are the dead letters of that week', async () => {
    const { id } = await stack.account();
    const then = Date.now() - 200 * DAY;
    await createPartitions(db, then);
    const dead = await receiveAt(then, id);
    await fail(dead, 1);
    await knex('activity').insert({
      account_id: id,
      bucket_start: new Date(Math.floor(then / (5 * MINUTE)) * 5 * MINUTE),
    });
    expect(await knex('dead_letters').where({ receipt_id: dead })).toHaveLength(1);
    // The worker does this when none of its receipts is pending.
    await knex('outbox').whereRaw('? = any(receipt_ids)', [dead]).delete();
    await dropOldPartitions(db, 190 * DAY);
    await removeLeftovers(db);
    expect(await knex('dead_letters').where({ receipt_id: dead })).toEqual([]);
    expect(await bucketAt(id, then)).toBeUndefined();
  });
});

/** Compares the overview of the last hour with a plain count of the receipts. */
async function expectPlainCount(accountId: number): Promise<void> {
  const receipts = await knex('receipts').where({ account_id: accountId });
  const activity = await readActivity(db, accountId, HOUR_VIEW);
  const count = (state: string) => receipts.filter((receipt) => receipt.state === state).length;
  const plain = {
    accepted: receipts.length,
    written: count('written'),
    duplicate: count('duplicate'),
    failed: 0,
    dead: count('dead'),
  };
  expect(activity.totals).toMatchObject(plain);
  expect(plain.written + plain.duplicate + plain.dead).toBe(plain.accepted);
  expect(Math.min(plain.duplicate, plain.dead)).toBeGreaterThan(0);
  for (const name of ['accepted', 'written', 'duplicate', 'dead'] as const)
    expect(activity.points.reduce((sum, point) => sum + point[name], 0)).toBe(plain[name]);
  const kinds = new Map<string, number>();
  for (const { warnings, state } of receipts)
    for (const { pointer, code } of state === 'written' ? ((warnings ?? []) as Warning[]) : []) {
      const kind = `${code} ${pointer.replace(/\/\d+\//, '/*/')}`;
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }
  expect(new Map(activity.warnings.map(({ code, pointer, count }) => [`${code} ${pointer}`, count]))).toEqual(kinds);
  expect([...kinds.keys()]).toEqual(expect.arrayContaining(['quantity_from_text /items/*/quantity']));
  expectQuantiles(activity, receipts);
}

/** Expects a difference below the width of a histogram slot. */
function expectQuantiles(
  { totals }: Activity,
  receipts: { state: string; updated_at: Date; received_at: Date }[],
): void {
  const took = receipts
    .filter(({ state }) => state === 'written')
    .map((receipt) => receipt.updated_at.getTime() - receipt.received_at.getTime())
    .toSorted((a, b) => a - b);
  for (const [share, reported] of [
    [0.5, totals.p50_ms],
    [0.99, totals.p99_ms],
  ] as const) {
    const exact = took[Math.ceil(took.length * share) - 1] as number;
    expect((reported as number) / exact).toBeGreaterThan(0.75);
    expect((reported as number) / exact).toBeLessThan(1.35);
  }
}

test('the overview of another account is not found, and an unknown range is rejected', async () => {
  const [own, other] = [await stack.account(), await stack.account()];
  const client = await signIn(portal, await createPerson(stack, own.id));
  expect((await client.get(`/accounts/${other.id}/overview`)).body.code).toBe('account_not_found');
  expect((await client.get(`/accounts/${own.id}/overview?range=year`)).body.code).toBe('invalid_request');
  for (const [range, points] of Object.entries({ hour: 12, day: 48, week: 56, month: 60 })) {
    const { body } = await client.get(`/accounts/${own.id}/overview?range=${range}`);
    expect(body.points).toHaveLength(points);
    expect(body.totals).toMatchObject({ accepted: 0, p50_ms: null });
  }
});

testInBrowser('the numbers with their words, each chart with its table, in both themes and languages', async () => {
  const account = await stack.account();
  const person = await createPerson(stack, account.id);
  const [now, dead] = [Date.now(), await receiveAt(Date.now(), account.id)];
  for (const receiptId of [await receiveAt(now, account.id), await receiveAt(now, account.id)])
    await write(receiptId, account.id);
  await fail(dead, 1);
  await rollUp();
  const page = await openPageAs(portal, person, `/accounts/${account.id}/overview`);
  const tile = (name: string) => page.locator('.tile', { has: page.getByText(name, { exact: true }) }).locator('dd');
  await page.locator('rect[data-series="written"]').first().waitFor();
  expect(await tile('Received').textContent()).toBe('3');
  expect(await tile('Became orders').textContent()).toBe('2');
  expect(await tile('50% done within').textContent()).toMatch(/\d ?(ms|s)/);
  await page.getByRole('radio', { name: 'Last hour' }).check();
  await page.getByText('Show as a table').first().click();
  const rows = page.locator('.chart-table table').first().locator('tbody tr');
  await until('the table shows the last hour', async () => (await rows.count()) === 12);
  await expectAccessible(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectAccessible(page);
  await page.getByLabel('Menu').click();
  await page.getByRole('radio', { name: 'العربية' }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('heading', { name: 'نظرة عامة' }).waitFor();
  await expectAccessible(page);
  await tile('فشلت نهائيًا').getByRole('link').click();
  await page.getByRole('heading', { name: 'الإيصالات' }).waitFor();
  await page.getByText(dead).waitFor();
});
