import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import { damageBody, longNote } from '../harness/damage-body.ts';
import { listJobs } from '../harness/queue.ts';
import type { RunningWorker, TestAccount } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

let other: TestAccount;

const { stack, knex, api, account } = useStack({ intake: true, account: true });

beforeAll(async () => {
  other = await stack.account();
});

const send = async (by: TestAccount, source_order_id: string, rest: object = {}) =>
  (await api.order(by, { source_order_id, ...rest })).body.receipt_id as string;
const final = async (by: TestAccount, receiptId: string) => (await api.final(by, receiptId)).body;
const quick = { RETRY_ATTEMPTS: '3', RETRY_BASE: '20ms', RETRY_CAP: '50ms' };

/** Moves all pending receipts to one outbox row after earlier jobs are done. One wake-up of the sweeper then claims them together. */
async function processTogether(start: () => Promise<RunningWorker>): Promise<RunningWorker> {
  const rows = await knex('outbox').delete().returning('*');
  const receipt_ids = rows.flatMap((row) => row.receipt_ids as string[]).toSorted();
  const pending = () => knex('receipts').whereIn('receipt_id', receipt_ids);
  await pending().where({ state: 'received' }).update({ state: 'failed', next_attempt_at: 'infinity' });
  const worker = await start();
  await until('the jobs are done', async () => (await listJobs(stack.queue.url)).length === 0);
  await pending()
    .where({ state: 'failed' })
    .update({ next_attempt_at: new Date(0) });
  await knex('outbox').insert({ ...rows[0], receipt_ids, due_at: new Date(0) });
  return worker;
}

test('an unreadable body uses up only the attempts of its own receipt, and the rest of its batch is written', async () => {
  const damaged = await send(account, 'damaged', { note: longNote() });
  const good = await Promise.all(Array.from({ length: 50 }, (_, index) => send(other, `good-${index}`)));
  await damageBody(knex, damaged);
  const worker = await processTogether(() => stack.worker(quick));
  for (const receiptId of good) {
    expect(await final(other, receiptId)).toMatchObject({ status: 'written', attempts: 1 });
  }
  expect(await final(account, damaged)).toMatchObject({
    status: 'dead',
    attempts: 3,
    error: { code: 'body_unreadable' },
  });
  const { history } = await knex('receipts').where({ receipt_id: damaged }).first('history');
  expect(history).toMatchObject(Array(3).fill({ code: 'body_unreadable', sqlstate: 'XX001' }));
  await worker.close();
});

test('an unreadable body uses up only its own attempts even if its worker crashed before', async () => {
  const [damaged, crashed] = [await send(account, 'alone', { note: longNote() }), await send(account, 'suspect')];
  await damageBody(knex, damaged);
  await knex('receipts')
    .whereIn('receipt_id', [damaged, crashed])
    .update({ state: 'normalized', lease_id: randomUUID(), lease_expires_at: new Date(0) });
  const worker = await processTogether(() => stack.worker(quick));
  expect(await final(account, crashed)).toMatchObject({ status: 'written', attempts: 1 });
  expect(await final(account, damaged)).toMatchObject({ status: 'dead', error: { code: 'body_unreadable' } });
  await worker.close();
});

test('a changed delivery of an order whose first body is unreadable is compared with the stored order', async () => {
  const first = await send(account, 'first', { note: longNote(), total: 5 });
  const worker = await stack.worker(quick);
  expect(await final(account, first)).toMatchObject({ status: 'written' });
  await damageBody(knex, first);
  const [same, changed] = [
    await send(account, 'first', { total: 5 }),
    await send(account, 'first', { total: 7, customer: { name: 'Noura' } }),
  ];
  expect(await final(account, same)).toMatchObject({ status: 'duplicate', attempts: 1 });
  const { status, attempts, changes } = await final(account, changed);
  expect({ status, attempts, changes }).toEqual({
    status: 'duplicate',
    attempts: 1,
    changes: [
      { pointer: '/customer/name', from: null, to: 'Noura' },
      { pointer: '/total', from: '5', to: '7' },
    ],
  });
  await worker.close();
});
