import { expect, test } from '@jest/globals';
import {
  type AttackRequest,
  attack,
  attackRequest,
  largestOrder,
  uniqueKeyItem,
} from '../../verification/bench/src/isolation/attack.ts';
import { poisonOrders, stopPoisoning } from '../harness/damage-body.ts';
import { useIsolation } from '../harness/isolation.ts';

// Orders are dead after two attempts, so that they can be redriven.
const isolation = useIsolation({ RETRY_ATTEMPTS: '2' });

/** A portal request of the hostile account's holder. */
function portalShot(path: string, body?: object): AttackRequest {
  const { portalUrl, hostile, hostileCookie } = isolation;
  return {
    url: `${portalUrl}/api/accounts/${hostile.id}/${path}`,
    headers: {
      Cookie: hostileCookie,
      Origin: portalUrl,
      'Content-Type': 'application/json',
    },
    ...(body && { body: JSON.stringify(body) }),
  };
}

/** Sends these orders in batches and waits until each is final. */
async function deliver(orders: readonly Buffer[]): Promise<void> {
  const { intakeUrl, hostile } = isolation;
  for (let first = 0; first < orders.length; first += 31) {
    const { url, headers, body } = attackRequest(
      intakeUrl,
      'orders/batch',
      hostile.key,
      Buffer.from(`[${orders.slice(first, first + 31).join()}]`),
    );
    const reply = await fetch(url, { method: 'POST', headers, body: body as Buffer });
    const { accepted, results } = (await reply.json()) as { accepted: number; results: { receipt_id: string }[] };
    expect(accepted).toBe(results.length);
    isolation.addReceipts(results.map(({ receipt_id }) => receipt_id));
  }
  await isolation.expectAllFinal();
}

const manyOf = (length: number, make: (index: number) => Buffer) => Array.from({ length }, (_, index) => make(index));

test('lists and orders in the portal with the largest orders', async () => {
  // A thousand items are shown, with more warnings than items.
  const named = (index: number) => `{"name":"${`${index}`.padEnd(200, 'x')}","quantity":"about two"}`;
  await deliver(manyOf(62, (index) => largestOrder(`listed ${index}`, index % 2 ? named : undefined)));
  const paths = ['orders?limit=100', 'orders', 'receipts?limit=100', 'audit'];
  const { replies } = await isolation.expectUnharmed((signal) =>
    attack((number) => portalShot(paths[number % paths.length] as string), { connections: 16, restMs: 20, signal }),
  );
  expect(replies['200']).toBeGreaterThan(0);
});

test('redrives of the largest orders', async () => {
  const { knex } = isolation.stack.database;
  await poisonOrders(knex);
  await deliver(
    manyOf(31, (index) =>
      largestOrder(`dead ${index}`, index % 2 ? uniqueKeyItem : undefined, { order_number: 'poison' }),
    ),
  );
  await stopPoisoning(knex);
  await isolation.expectUnharmed((signal) =>
    attack((number) => portalShot(number % 4 ? 'dead-letters/redrive-preview' : 'dead-letters/redrive', {}), {
      connections: 8,
      signal,
    }),
  );
  await isolation.expectAllFinal();
});
