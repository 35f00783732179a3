import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { countStored } from './harness/count-stored.ts';
import { QUEUE_KINDS } from './harness/queue.ts';
import { expectSettled, written } from './harness/settled.ts';
import { type RunningIntake, type Stack, startStack, type TestAccount } from './harness/stack.ts';

let stack: Stack;
let intake: RunningIntake;
let account: TestAccount;

beforeAll(async () => {
  stack = await startStack(QUEUE_KINDS[0] ?? 'postgres');
  intake = await stack.intake({ MAX_BODY_BYTES: '2000', MAX_BATCH_BYTES: '200000' });
  account = await stack.account();
});
afterAll(() => stack.close());

const order = (id: string) => JSON.stringify({ source_order_id: id, total: '12.50' });
const lines = (...texts: string[]) => Buffer.from(texts.join('\n'));
const receipt = { receipt_id: expect.any(String) };
const refusal = (status: number, code: string) => ({
  error: expect.objectContaining({ status, code, detail: expect.any(String) }),
});

describe.each(QUEUE_KINDS)('a batch of orders, the queue on %s', (kind) => {
  test('of either kind: a receipt for each in their order, and each becomes an order', async () => {
    const own = await startStack(kind);
    try {
      const { api } = await own.intake();
      const sender = await own.account();
      const names = Array.from({ length: 700 }, (_, index) => `together ${index}`);
      const asLines = await api.batch(sender, lines(...names.map(order)));
      const asArray = await api.batch(
        sender,
        names.map((name) => ({ source_order_id: `${name} in an array` })),
      );
      const receiptIds: string[] = [];
      for (const { status, body } of [asLines, asArray]) {
        expect({ status, ...body, results: body.results.length }).toEqual({
          status: 202,
          accepted: 700,
          refused: 0,
          results: 700,
        });
        receiptIds.push(...body.results.map((result: { receipt_id: string }) => result.receipt_id));
      }
      const stored = await own.database.knex('receipts').select('receipt_id', 'source_order_id');
      const nameOf = new Map(stored.map((row) => [row.receipt_id, row.source_order_id]));
      expect(receiptIds.map((id) => nameOf.get(id))).toEqual([...names, ...names.map((name) => `${name} in an array`)]);
      await own.worker();
      await expectSettled(own, sender, written(receiptIds));
    } finally {
      await own.close();
    }
  });
});

test('bad orders among good ones cost only themselves, and leave nothing behind', async () => {
  const deep = `{"source_order_id":"deep","x":${'['.repeat(64)}${']'.repeat(64)}}`;
  const long = JSON.stringify({ source_order_id: 'long', x: 'x'.repeat(2000) });
  const before = await countStored(stack.database.knex);
  const { status, body } = await intake.api.batch(
    account,
    Buffer.concat([
      lines(order('first'), '{"source_order_id":', order('third'), '{}', '[]', deep, long),
      Buffer.from('\n{"source_order_id":"\xff"}\n', 'latin1'),
      lines('', '  \t\r', `${order('last')}\r`),
    ]),
  );
  expect({ status, body }).toEqual({
    status: 202,
    body: {
      accepted: 3,
      refused: 6,
      results: [
        receipt,
        refusal(400, 'malformed_body'),
        receipt,
        {
          error: expect.objectContaining({
            status: 422,
            code: 'validation_failed',
            errors: [{ pointer: '/source_order_id', code: 'required', detail: expect.any(String) }],
          }),
        },
        refusal(400, 'malformed_body'),
        refusal(400, 'malformed_body'),
        refusal(413, 'payload_too_large'),
        refusal(400, 'malformed_body'),
        receipt,
      ],
    },
  });
  // Three receipts, their bodies in one row, and one promise.
  expect(await countStored(stack.database.knex)).toBe(before + 3 + 1 + 1);
});
