import { expect, test } from '@jest/globals';
import { QUEUE_KIND } from '../harness/queue.ts';
import { withStack } from '../harness/stack.ts';

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
