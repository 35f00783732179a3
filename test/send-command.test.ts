import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { QUEUE_KINDS } from './harness/queue.ts';
import { type Sender, startSend, useDirectory } from './harness/send.ts';
import { type RunningIntake, type Stack, startStack, type TestAccount } from './harness/stack.ts';

let stack: Stack;
let intake: RunningIntake;
const files = useDirectory();

beforeAll(async () => {
  stack = await startStack(QUEUE_KINDS[0] ?? 'postgres');
  intake = await stack.intake();
  await stack.worker();
});
afterAll(() => stack.close());

async function newSender(): Promise<Sender & TestAccount> {
  return { ...(await stack.account({ signing: true })), url: intake.api.url };
}
const send = (sender: Sender, args: string[], input?: string) => startSend(sender, args, input).ended;
const ndjson = (ids: readonly string[]) => ids.map((id) => `${JSON.stringify({ source_order_id: id })}\n`).join('');
const idsOf = async ({ id }: TestAccount): Promise<string[]> =>
  stack.database.knex('orders').where({ account_id: id }).orderBy('order_id').pluck('source_order_id');

test('the orders of a file are written, and the report says so', async () => {
  const sender = await newSender();
  const file = await files.write('plain.ndjson', ndjson(['A-1', 'A-2', 'A-3']));
  const { code, stdout, stderr } = await send(sender, [file]);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^ {2}3 {2}orders read\n {2}3 {2}written\nin /);
  expect((await idsOf(sender)).toSorted()).toEqual(['A-1', 'A-2', 'A-3']);
});
