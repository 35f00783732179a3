import { expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import type { Reply } from '../harness/api.ts';
import { useDirectory } from '../harness/directory.ts';
import { wooCommerceHeaders } from '../harness/sources.ts';
import { useStack } from '../harness/use-stack.ts';
import { run } from './run.ts';

const files = useDirectory();

const { stack, api, account } = useStack({ intake: true, worker: true, account: true });

/** Runs a command as an operator beside this stack. */
async function operate(...argv: string[]) {
  const { code, stdout, stderr } = await run([...argv, '--json'], { ...stack.env, INTAKE_URL: api.url });
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}
const deliver = (url: string, secret: string, order: object): Promise<Reply> => {
  const body = JSON.stringify(order);
  const path = url.slice(api.url.length);
  return api.send('POST', path, wooCommerceHeaders(body, 'order.created', secret), body);
};
const stateOf = async ({ body }: Reply) => (await api.final(account, body.receipt_id)).body;

test('a shop that uses what the commands print gets its orders written, also through changes of everything', async () => {
  const reference = String(account.id);
  const create = ['sources', 'create', reference, '--preset', 'woocommerce', '--name', 'Web shop'];
  const { url, secret } = await operate(...create);
  expect(await stateOf(await deliver(url, secret, { id: 727, number: '727' }))).toMatchObject({ status: 'written' });
  expect(await deliver(url, `${secret}x`, { id: 728 })).toMatchObject({ status: 401 });

  // A delivery that the mapping cannot read is mapped again by a redrive, once the mapping is right.
  const unmapped = await deliver(url, secret, { order_key: 'wc-1', number: '729' });
  expect(await stateOf(unmapped)).toMatchObject({ status: 'dead' });
  const early = await run(['receipts', 'redrive', unmapped.body.receipt_id], stack.env);
  expect([early.code, early.stderr]).toEqual([1, expect.stringMatching(/ is still dead: the mapping of its source/)]);
  const map = await files.write(
    'map.json',
    JSON.stringify({ source_order_id: ['/id', '/order_key'], total: '/total' }),
  );
  await operate('sources', 'map', reference, 'Web shop', '--file', map);
  await operate('receipts', 'redrive', unmapped.body.receipt_id);
  expect(await stateOf(unmapped)).toMatchObject({ status: 'written', source_order_id: 'web-shop:wc-1' });

  const rotated = await operate('sources', 'rotate', reference, 'Web shop', '--secret');
  await until('the new secret', async () => (await deliver(url, rotated.secret, { id: 730 })).status === 202);
  expect(await deliver(url, secret, { id: 731 })).toMatchObject({ status: 202 });

  const moved = await operate('sources', 'rotate', reference, 'Web shop', '--url');
  expect(await deliver(moved.url, rotated.secret, { id: 732 })).toMatchObject({ status: 202 });
  await until('the end of the old URL', async () => (await deliver(url, rotated.secret, { id: 733 })).status === 404);
  await operate('sources', 'remove', reference, 'Web shop');
  await until('the removal', async () => (await deliver(moved.url, rotated.secret, { id: 734 })).status === 404);
});
