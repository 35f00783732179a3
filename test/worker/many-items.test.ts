import { beforeAll, expect, test } from '@jest/globals';
import { DEFAULT_MAX_BODY_BYTES } from '@orders/domain/interface-limits.ts';
import { openShop, type Shop } from '../harness/people.ts';
import { useStack } from '../harness/use-stack.ts';

const HEAD = '{"source_order_id":"many","items":[';
/** Nearly the maximum number of items in a body. */
const COUNT = Math.floor(DEFAULT_MAX_BODY_BYTES / 3) - 50;
const BODY = `${HEAD}${Array.from({ length: COUNT }, () => '{}').join(',')}]}`;
const TOO_MANY = {
  pointer: '/items',
  code: 'too_many_items',
  detail: `More than 1,000 items, ${COUNT - 1000} too many; the first 1,000 are kept, the others in the raw payload only.`,
};
let shop: Shop;

const { stack, api } = useStack({ intake: true, worker: true });

beforeAll(async () => {
  shop = await openShop(stack, await stack.portal());
});

test('an order with many items is written with the first 1,000, and its payload is stored whole', async () => {
  const body = await api.process(shop.account, BODY);
  expect(body).toMatchObject({ status: 'written', warnings: [TOO_MANY] });
  const shown = await shop.get(`/orders/${body.order_id}`);
  expect(shown.body.order.items).toHaveLength(1_000);
  expect(shown.body.raw.text).toBe(BODY);
});

test('a preview shows the same 1,000 items', async () => {
  const { body } = await api.preview(shop.account, BODY.replace('many', 'previewed'));
  expect(body.normalized.items).toHaveLength(1_000);
  expect(body.warnings).toEqual([TOO_MANY]);
});

test('strict handling rejects it, alone and in a batch', async () => {
  const strictly = { Prefer: 'handling=strict' };
  const errors = [{ pointer: '/items', code: 'too_many_items', detail: 'More than 1,000 items.' }];
  const refused = { code: 'validation_failed', errors };
  const alone = await api.order(shop.account, BODY.replace('many', 'strict'), strictly);
  expect(alone).toMatchObject({ status: 422, body: refused });
  const together = await api.batch(shop.account, `[${BODY.replace('many', 'strict')}]`, strictly);
  expect(together.body).toMatchObject({ accepted: 0, results: [{ error: { status: 422, ...refused } }] });
});

test('a changed delivery that differs only behind the 1,000th item changes nothing, and one that differs before it does', async () => {
  const resend = async (body: string) => {
    const { body: sent } = await api.order(shop.account, body);
    return (await api.final(shop.account, sent.receipt_id)).body;
  };
  expect(await resend(BODY.replace('{}]', '{"quantity":2}]'))).toMatchObject({ status: 'duplicate', changes: [] });
  const change = { pointer: '/items/0/quantity', from: null, to: 2 };
  expect(await resend(BODY.replace('{}', '{"quantity":2}'))).toMatchObject({ status: 'duplicate', changes: [change] });
});
