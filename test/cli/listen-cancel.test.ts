import { afterEach, expect, test } from '@jest/globals';
import { normalizeSent } from '@orders/domain';
import { createDeliveries } from '../../apps/cli/src/listen/deliveries.ts';
import { until } from '../harness/until.ts';
import { endListeners, startListener } from './listen-process.ts';
import { run } from './run.ts';

afterEach(endListeners);

const LIST = { cancellations: [{ source_order_id: 'L-1', reason: 'Sold out' }, { source_order_id: 'early' }] };
const OUTCOMES = [
  { outcome: 'cancelled', source_order_id: 'L-1', order_id: 1 },
  { outcome: 'held', source_order_id: 'early', order_id: null },
];

test('a cancellation has its outcome, and an order that arrives after it is cancelled', async () => {
  const listener = await startListener(['--json']);
  await listener.webhook({ source_order_id: 'L-1' });
  const reply = await listener.webhook(LIST, {}, '/ingest/webhook/cancel');
  expect([reply.status, await reply.json()]).toEqual([200, { results: OUTCOMES }]);
  await listener.webhook({ source_order_id: 'early' });
  const shown = await listener.lines(3);
  expect(shown.map(({ status, order_state, cancellations }) => [status, order_state, cancellations])).toEqual([
    [202, 'needs_review', null],
    [
      200,
      null,
      [
        { ...OUTCOMES[0], reason: 'Sold out' },
        { ...OUTCOMES[1], reason: null },
      ],
    ],
    [202, 'cancelled', null],
  ]);
});

test('it is shown as text with its reason, and so is the state of an order that arrives after it', async () => {
  const listener = await startListener();
  await listener.webhook({ source_order_id: 'L-1' });
  await listener.webhook(LIST, {}, '/ingest/webhook/cancel');
  await listener.webhook({ source_order_id: 'early' });
  const many = Array.from({ length: 25 }, (_, index) => ({ source_order_id: `many-${index}\u202e` }));
  await listener.webhook({ cancellations: many }, {}, '/ingest/orders/cancel');
  await until('all are shown', async () => listener.shown.includes('and 5 more'));
  expect(listener.shown).toMatch(/POST \/ingest\/webhook\/cancel {2}200 cancelled and held\n/);
  expect(listener.shown).toMatch(/ cancelled +L-1\n +held +early\n +reason +Sold out\n/);
  expect(listener.shown).toMatch(/ order state +cancelled, until a reviewer reopens it\n/);
  expect(listener.shown).toMatch(/POST \/ingest\/orders\/cancel {2}200 held\n +held +many-0\\u202e\n/);
});

test('a wrong signature is refused and shown with its cause, and --fail refuses cancellations too', async () => {
  const listener = await startListener(['--json', '--fail', '503']);
  const send = (headers = {}) => listener.webhook(LIST, headers, '/ingest/webhook/cancel');
  expect((await send()).status).toBe(503);
  expect((await send({ 'x-service-signature': 'x' })).status).toBe(401);
  expect((await send()).status).toBe(200);
  expect(await listener.lines(3)).toMatchObject([
    { code: 'overloaded', simulated: true, cancellations: null },
    { code: 'invalid_signature', diagnosis: { code: 'malformed_header' }, cancellations: null },
    { code: null, cancellations: [{ outcome: 'held' }, { outcome: 'held' }] },
  ]);
});

test('orders cancel works with it', async () => {
  const listener = await startListener();
  const env = { ORDERS_URL: listener.url, ORDERS_API_KEY: listener.key, ORDERS_SIGNING_SECRET: listener.secret };
  const { code, stdout } = await run(['cancel', 'L-1', '--webhook', '--json'], { NODE_ENV: 'production', ...env });
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { read: 1, held: 1 }]);
});

test('of tens of thousands of cancelled ids the oldest are forgotten', () => {
  const deliveries = createDeliveries();
  const ids = Array.from({ length: 10_001 }, (_, index) => `id-${index}`);
  deliveries.cancel(ids.map((sourceOrderId) => ({ sourceOrderId, reason: null })));
  const stateOf = (id: string) => {
    const normalized = normalizeSent({ source_order_id: id });
    const incoming = { ...normalized, channel: 'rest', idempotencyKey: null, body: Buffer.from('{}') } as const;
    return deliveries.accept(incoming).orderState;
  };
  expect([stateOf('id-0'), stateOf('id-1'), stateOf('id-10000')]).toEqual(['needs_review', 'cancelled', 'cancelled']);
});
