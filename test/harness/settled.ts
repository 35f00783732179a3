import { expect } from '@jest/globals';
import { isFinal } from '@orders/domain/receipt-states.ts';
import { until } from '@orders/test-services/until.ts';
import type { RunningIntake, Stack, TestAccount } from './stack.ts';

/** A history without failed attempts. It may contain expired leases, as after a crash of a worker or of Postgres. */
export const NO_FAILED_ATTEMPT = expect.not.arrayContaining([
  expect.objectContaining({ failed_at: expect.anything() }),
]);

/** The parameter `expected` of `expectSettled` for receipts that are all `written`. */
export function written(receiptIds: Iterable<string>): Record<string, string> {
  return Object.fromEntries(Array.from(receiptIds, (receiptId) => [receiptId, 'written']));
}

/**
 * Waits until each receipt of an account is final. Expects exactly these receipts in these states, each after one attempt; one order for
 * each `written` receipt, none twice; one changed delivery for each `duplicate` receipt; and no outbox row.
 *
 * @param expected states by receipt id.
 * @param history expected history of each receipt, by default none. Entries of stored mismatches are ignored.
 */
export async function expectSettled(
  { database: { knex } }: Stack,
  account: TestAccount,
  expected: Record<string, string>,
  { history = null }: { history?: unknown } = {},
): Promise<void> {
  const receipts = await until('each receipt is final', async () => {
    const rows = await knex('receipts').where({ account_id: account.id });
    return rows.every(({ state }) => isFinal(state)) && rows;
  });
  const receiptIds = Object.keys(expected);
  const states = Object.fromEntries(receipts.map(({ receipt_id, state }) => [receipt_id, state]));
  expect(states).toEqual(expected);
  for (const receipt of receipts)
    expect({ ...receipt, history: withoutMismatchEntries(receipt.history) }).toMatchObject({
      attempts: 1,
      lease_id: null,
      history,
    });
  const orders = await knex('orders').where({ account_id: account.id });
  expect(new Set(orders.map((order) => order.source_order_id)).size).toBe(orders.length);
  expect(new Set(orders.map((order) => order.receipt_id))).toEqual(
    new Set(receiptIds.filter((receiptId) => expected[receiptId] === 'written')),
  );
  const resent = await knex('changed_deliveries').where({ account_id: account.id }).pluck('receipt_id');
  expect(new Set(resent)).toEqual(new Set(receiptIds.filter((receiptId) => expected[receiptId] === 'duplicate')));
  await until('no outbox row is left', async () => {
    const left = await knex('outbox').whereRaw('receipt_ids && ?::uuid[]', [receiptIds]);
    return left.length === 0;
  });
}

function withoutMismatchEntries(history: object[] | null): object[] | null {
  const rest = history?.filter((entry) => !('kept_at' in entry)) ?? [];
  return rest.length > 0 ? rest : null;
}

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
