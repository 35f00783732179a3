import { test } from '@jest/globals';
import { attack, attackRequest, largestOrder } from '../../packages/bench/src/isolation/attack.ts';
import { ORDER_ATTACKS } from '../../packages/bench/src/isolation/attacks.ts';
import { useIsolation } from '../harness/isolation.ts';

const isolation = useIsolation();

test.each(ORDER_ATTACKS)('$name', async (attack) => {
  await isolation.expectUnharmed(attack);
});

test('webhooks with a wrong signature over the largest order', async () => {
  const { intakeUrl, hostile } = isolation;
  const headers = { 'x-service-signature': `sha256=${'0'.repeat(64)}` };
  const request = attackRequest(intakeUrl, 'webhook', hostile.key, largestOrder('x'), headers);
  await isolation.expectUnharmed((signal) => attack(() => request, { connections: 64, signal }));
});

test('two hostile accounts at once', async () => {
  const { intakeUrl, hostile, accomplice } = isolation;
  const requests = [
    attackRequest(intakeUrl, 'orders', hostile.key, largestOrder('x')),
    attackRequest(intakeUrl, 'preview', accomplice.key, largestOrder('x')),
  ] as const;
  await isolation.expectUnharmed((signal) =>
    attack((number) => (number % 2 ? requests[1] : requests[0]), { connections: 120, signal }),
  );
});

test('every accepted order is final', () => isolation.expectAllFinal());
