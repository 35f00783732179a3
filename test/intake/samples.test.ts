import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { listOrders } from '@orders/cli/list-orders.ts';
import type { Reply } from '../harness/api.ts';
import { sign } from '../harness/hashes.ts';
import { describeQueues, QUEUE_KIND } from '../harness/queue.ts';
import type { TestAccount } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

const fixture = (name: string) =>
  readFileSync(resolve(import.meta.dirname, '../../packages/domain/test/fixtures', name), 'utf8');
const ORDERS = fixture('orders.ndjson').trim().split('\n');

interface MessyCase {
  about: string;
  payload: { source_order_id: string };
  expect: Record<string, unknown> & { warns?: string[] };
}
const MESSY = JSON.parse(fixture('messy.json')) as MessyCase[];

describeQueues('samples, the queue on %s', (kind) => {
  const { stack, knex, db, api } = useStack({ queue: kind, intake: true, worker: true });

  beforeAll(async () => {
    await stack.worker();
  });

  async function sendAll(account: TestAccount, route: 'order' | 'webhook'): Promise<string[]> {
    const replies = await Promise.all(ORDERS.map((line) => api[route](account, line)));
    const finals = await Promise.all(replies.map((reply: Reply) => api.final(account, reply.body.receipt_id)));
    return finals.map((reply) => reply.body.status);
  }

  test.each(['order', 'webhook'] as const)(
    'all 300 sent at once by %s are written, and sent again they are duplicates',
    async (route) => {
      const account = await stack.account({ signing: true });
      expect(new Set(await sendAll(account, route))).toEqual(new Set(['written']));
      expect(new Set(await sendAll(account, route))).toEqual(new Set(['duplicate']));
      const orders = await listOrders(db, { accountId: account.id, reviewState: 'needs_review' });
      const sent = ORDERS.map((line) => JSON.parse(line).source_order_id);
      expect(orders).toHaveLength(300);
      expect(new Set(orders.map((order) => order.source_order_id))).toEqual(new Set(sent));
      const { rows } = await knex.raw(
        `select substring(p.bodies from r.body_start for r.body_length) as body
         from receipts r join receipt_payloads p using (batch_id, account_id) where account_id = ?`,
        [account.id],
      );
      expect(rows).toHaveLength(2 * ORDERS.length);
      expect(new Set(rows.map((row: { body: Buffer }) => row.body.toString()))).toEqual(new Set(ORDERS));
    },
  );

  // The queue has no part in what is stored and logged.
  if (kind !== QUEUE_KIND) return;

  test('no key, secret, signature or personal data of them is in a log', async () => {
    const account = await stack.account({ signing: true });
    const [ownIntake, ownWorker] = [await stack.intake(), await stack.worker({ LOG_LEVEL: 'debug' })];
    const lines = ORDERS.slice(0, 40);
    const personal = lines.flatMap((line) => {
      const { customer, address } = JSON.parse(line);
      return [customer?.phone, customer?.email, customer?.name, address].filter((text) => text?.length > 6);
    });
    for (const line of lines) {
      await ownIntake.api.webhook(account, line, { Prefer: 'wait=20' });
      await ownIntake.api.webhook(account, `${line} `, { 'x-service-signature': sign(account.secret, line) });
      await ownIntake.api.order(account, line.slice(0, -1));
      await ownIntake.api.order(account, { ...JSON.parse(line), gift: 1 }, { Prefer: 'handling=strict' });
    }
    const logged = ownIntake.log.text() + ownWorker.log.text();
    expect(logged.length).toBeGreaterThan(10_000);
    const secrets = [account.key, account.secret as string, ...lines.map((line) => sign(account.secret, line))];
    expect([...secrets, ...personal].filter((text) => logged.includes(text))).toEqual([]);
  });

  test('messy payloads are stored as their expected orders', async () => {
    const account = await stack.account();
    for (const { payload } of MESSY) {
      const { body } = await api.order(account, payload, { Prefer: 'wait=30' });
      expect(body.status).toBe('written');
    }
    const orders = new Map(
      (await listOrders(db, { accountId: account.id })).map((order) => [order.source_order_id, order]),
    );
    for (const { about, payload, expect: expected } of MESSY) {
      const order = orders.get(payload.source_order_id);
      const { warns = [], ...fields } = expected;
      for (const [path, value] of Object.entries(fields)) {
        const stored = path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], order);
        const comparable = path === 'total' && stored !== null ? Number(stored) : stored;
        expect({ about, [path]: comparable }).toEqual({ about, [path]: value });
      }
      const pointers = order?.warnings.map((warning) => warning.pointer);
      for (const pointer of warns)
        expect({ about, pointers }).toEqual({ about, pointers: expect.arrayContaining([pointer]) });
    }
  });
});
