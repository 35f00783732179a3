import { expect } from '@jest/globals';
import { expectSettled } from './settled.ts';
import type { RunningIntake, Stack } from './stack.ts';

/** Sends an order, a replay, and a webhook with the same `source_order_id`, each to the next intake. Expects the right outcome of each. */
export async function expectOrderFlow(stack: Stack, intakes: RunningIntake[]): Promise<void> {
  const api = (index: number) => (intakes[index % intakes.length] as RunningIntake).api;
  const worker = await stack.worker();
  const account = await stack.account({ signing: true });
  const key = { 'Idempotency-Key': 'once' };
  const first = await api(0).order(account, { source_order_id: 'a' }, key);
  const again = await api(1).order(account, { source_order_id: 'a' }, key);
  expect(again.body).toEqual({ receipt_id: first.body.receipt_id, duplicate: true });
  await api(2).final(account, first.body.receipt_id);
  const second = await api(2).webhook(account, { source_order_id: 'a' });
  await expectSettled(stack, account, { [first.body.receipt_id]: 'written', [second.body.receipt_id]: 'duplicate' });
  await worker.close();
}
