import { expect, test } from '@jest/globals';
import { startApp } from '../harness/processes.ts';
import { QUEUE_KIND } from '../harness/queue.ts';
import { useStack } from '../harness/use-stack.ts';

/** One batch that one worker claims at once. */
const ORDERS = 16;
/** The maximum that fits into an order. Each item takes some hundred bytes in memory. */
const ITEMS = 65_000;

const { stack, knex, api, account } = useStack({ queue: QUEUE_KIND, intake: true, account: true });

async function send(makeItems: (index: number) => string[]): Promise<string[]> {
  const orders = Array.from({ length: ORDERS }, (_, index) => ({
    source_order_id: `${index}`,
    items: makeItems(index),
  }));
  const reply = await api.batch(account, orders);
  expect(reply.body).toMatchObject({ accepted: ORDERS });
  return reply.body.results.map((result: { receipt_id: string }) => result.receipt_id);
}

test('the memory of a worker does not grow with the number of orders with many items, or of their duplicates', async () => {
  const first = await send(() => Array.from({ length: ITEMS }, () => 'a'));
  const worker = await startApp('worker', {
    ...stack.env,
    NODE_OPTIONS: '--max-old-space-size=120',
  });
  const states = async (receiptIds: string[]) => {
    for (const receiptId of receiptIds) await api.final(account, receiptId);
    return knex('receipts').whereIn('receipt_id', receiptIds).distinct('state', 'attempts', 'crashes', 'runs_alone');
  };
  expect(await states(first)).toEqual([{ state: 'written', attempts: 1, crashes: 0, runs_alone: false }]);
  const again = await send((index) => [`another ${index}`]);
  expect(await states(again)).toEqual([{ state: 'duplicate', attempts: 1, crashes: 0, runs_alone: false }]);
  await worker.stop();
});
