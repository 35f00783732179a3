import { test } from '@jest/globals';
import { LARGEST, largestOrder, uniqueKeyItem } from '../../verification/bench/src/isolation/attack.ts';
import { useIsolation } from '../harness/isolation.ts';

const isolation = useIsolation();
const MAX_BATCH_BYTES = 8_388_608;
const MAX_RECONCILE_BYTES = 1_048_576;

const send = isolation.flood;

const arrayOf = (orders: readonly (string | Buffer)[]) => Buffer.from(`[${orders.join()}]`);
const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));

test.each([
  ['array', {}, ','],
  ['lines', { 'Content-Type': 'application/x-ndjson' }, '\n'],
])('batches of the largest orders: %s', async (kind, headers, separator) => {
  // Less than 32, because the separators count too.
  const orders = times(31, (index) => largestOrder(`${kind} ${index}`, index % 2 ? uniqueKeyItem : undefined));
  const body = Buffer.from(kind === 'array' ? `[${orders.join(separator)}]` : orders.join(separator));
  await send(16, 'orders/batch', () => body, headers);
});

test('strict batches of 1,000 orders with thousands of problems each', async () => {
  const length = Math.floor(MAX_BATCH_BYTES / 1000) - 1;
  const problems = Array(Math.floor((length - 60) / 2))
    .fill('1')
    .join();
  const body = arrayOf(times(1000, (index) => `{"source_order_id":"strict ${index}","items":[${problems}]}`));
  await send(16, 'orders/batch', () => body, { Prefer: 'handling=strict' });
});

test('batches of 8 MiB, sixteen at once', async () => {
  const address = 'a'.repeat(Math.floor(MAX_BATCH_BYTES / 1000) - 60);
  const bodies = times(16, (batch) =>
    arrayOf(times(1000, (index) => `{"source_order_id":"long ${batch} ${index}","address":"${address}"}`)),
  );
  await send(16, 'orders/batch', (number) => bodies[number % 16] as Buffer);
});

test('long lists of ids, valid and invalid', async () => {
  const ids = Buffer.from(JSON.stringify({ source_order_ids: times(1000, (index) => `${index}`.padEnd(1000, 'x')) }));
  const items = `{"source_order_ids":[${Array(Math.floor((MAX_RECONCILE_BYTES - 30) / 3))
    .fill('{}')
    .join()}]}`;
  const members = `{${times(70_000, (index) => `"k${index}":1`).join()}}`.slice(0, MAX_RECONCILE_BYTES);
  const bodies = [ids, items, members, Buffer.alloc(MAX_RECONCILE_BYTES, '['), '['.repeat(LARGEST)];
  await send(32, 'reconcile', (number) => bodies[number % bodies.length] as Buffer);
});

test.each(['of new ids', 'of the same ids'])('long lists of cancellations, %s', async (ids) => {
  const reason = 'r'.repeat(500);
  const listOf = (list: number | string) => ({
    cancellations: times(1000, (index) => ({ source_order_id: `${list} ${index}`.padEnd(255, 'x'), reason })),
  });
  const same = Buffer.from(JSON.stringify(listOf('same')));
  await send(120, 'orders/cancel', (number) => (ids === 'of new ids' ? JSON.stringify(listOf(number)) : same));
});

test('every accepted order is final', () => isolation.expectAllFinal());
