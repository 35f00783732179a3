import { test } from '@jest/globals';
import {
  attack,
  attackRequest,
  deepItem,
  LARGEST,
  largestObject,
  largestOrder,
  spacedOrder,
  uniqueKeyItem,
} from '../../verification/bench/src/isolation/attack.ts';
import { useIsolation } from '../harness/isolation.ts';

const isolation = useIsolation();
const E = largestOrder('x');
/** Bodies below the limit that take longer to parse than `E`. */
const SLOWER = [largestOrder('unique', uniqueKeyItem), largestOrder('deep', deepItem), largestObject('members')];

const send = isolation.flood;

test('120 of the largest orders at once', async () => {
  await send(120, 'orders', () => E);
});
test('400 orders of one long string at once', async () => {
  const body = JSON.stringify({ source_order_id: 'long', address: 'a'.repeat(262_000) });
  await send(400, 'orders', () => body);
});
test('200 of the largest orders, handled strictly', async () => {
  await send(200, 'orders', () => E, { Prefer: 'handling=strict' });
});
test.each([40, 300])('%s previews of the largest order', async (connections) => {
  await send(connections, 'preview', () => E);
});
test.each(['orders', 'preview'])('%s that parse slower than empty items', async (path) => {
  await send(120, path, (number) => SLOWER[number % SLOWER.length] as Buffer);
});
test('40 replays with one key that differ by a space', async () => {
  await send(40, 'orders', (number) => spacedOrder('spaces', number), { 'Idempotency-Key': 'spaces' });
});
test('40 replays with one key and other content', async () => {
  const bodies = Array.from({ length: 40 }, (_, number) => largestOrder('content', undefined, { area: `${number}` }));
  await send(40, 'orders', (number) => bodies[number % 40] as Buffer, { 'Idempotency-Key': 'content' });
});
test('webhooks with a wrong signature over the largest order', async () => {
  await send(64, 'webhook', () => E, { 'x-service-signature': `sha256=${'0'.repeat(64)}` });
});
test('the largest bodies that are not orders', async () => {
  const broken = [E.subarray(0, -9), Buffer.alloc(LARGEST, '['), Buffer.alloc(LARGEST, 0xff), Buffer.from(`[${E}]`)];
  await send(120, 'orders', (number) => broken[number % broken.length] as Buffer);
});
test('two hostile accounts at once', async () => {
  const { intakeUrl, hostile, accomplice: secondHostile } = isolation;
  await isolation.expectUnharmed((signal) =>
    attack(
      (number) =>
        number % 2
          ? attackRequest(intakeUrl, 'orders', hostile.key, E)
          : attackRequest(intakeUrl, 'preview', secondHostile.key, E),
      { connections: 120, signal },
    ),
  );
});
test('every accepted order is final', () => isolation.expectAllFinal());
