import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createApiKey } from '@orders/domain';
import { sign } from '../harness/sign.ts';
import { type RunningIntake, type Stack, startStack, type TestAccount } from '../harness/stack.ts';
import { endListeners, type Listener, startListener } from './listen-process.ts';

let stack: Stack;
let intake: RunningIntake;
let account: TestAccount;
let listener: Listener;

beforeAll(async () => {
  stack = await startStack('postgres');
  intake = await stack.intake();
  await stack.worker();
  account = await stack.account({ signing: true });
  listener = await startListener(['--json'], {
    ORDERS_API_KEY: account.key,
    ORDERS_SIGNING_SECRET: account.secret as string,
  });
});
afterAll(async () => {
  await endListeners();
});

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** A reply with masked ids and times; everything else must be the same. */
async function replyOf(url: string, path: string, init: RequestInit) {
  const reply = await fetch(url + path, init);
  const headers = [...reply.headers].filter(
    ([name]) => !['date', 'content-length', 'transfer-encoding'].includes(name),
  );
  const text = await reply.text();
  const masked = JSON.stringify({ status: reply.status, headers, body: JSON.parse(text) })
    .replace(UUID, 'ID')
    .replace(TIME, 'TIME')
    .replace(/("order_id":)\d+/g, '$1"NUMBER"');
  // The ids of receipts and orders in the sequence of the reply: an id that repeats must repeat in both.
  return {
    masked: JSON.parse(masked),
    ids: [...text.matchAll(/"(?:receipt_id|kept_as|order_id)":"?([\w-]+)/g)].map(([, id]) => id as string),
  };
}

const idOnly = (source_order_id: string) => ({ source_order_id });

test('every reply is the one that the service gives: status, headers and body', async () => {
  const order = JSON.stringify({ source_order_id: 'like-1', total: 'free', gift: 1 });
  const other = order.replace('free', '12');
  const another = other.replace('like-1', 'like-2');
  const changed = other.replace('"gift":1', '"area":"Marina"');
  const cancellation = JSON.stringify({ source_order_id: 'like-1', reason: 'Sold out' });
  const list = JSON.stringify({ cancellations: ['like-3', 'like-2', 'like-4', 'like-3'].map(idOnly) });
  const bearer = { Authorization: `Bearer ${account.key}` };
  const json = { ...bearer, 'Content-Type': 'application/json' };
  const signed = (body: string) => ({ ...json, 'x-service-signature': sign(account.secret, body).toUpperCase() });
  const keyed = { ...json, 'Idempotency-Key': 'like' };
  const waiting = { Prefer: 'wait=30' };
  const post = (path: string, headers: Record<string, string>, body: string | Buffer) => ({
    path,
    init: { method: 'POST', headers, body },
  });
  const requests: { path: string; init: RequestInit }[] = [
    post('/ingest/webhook', { ...signed(order), ...waiting, 'X-Request-Id': 'mine' }, order),
    post('/ingest/webhook', { ...signed(other), Prefer: 'handling=lenient, wait=30' }, other),
    post('/ingest/orders', { ...keyed, ...waiting }, other),
    post('/ingest/orders', { ...keyed, ...waiting }, ` ${other}`),
    post('/ingest/orders', { ...keyed, ...waiting }, order),
    post('/ingest/orders', keyed, other.replace('"12"', '12.0')),
    post('/ingest/orders', keyed, order),
    post('/ingest/orders', { ...keyed, ...waiting }, another),
    post('/ingest/orders', keyed, another),
    post('/ingest/webhook', { ...signed(changed), 'Idempotency-Key': 'like' }, changed),
    post('/ingest/orders', { ...json, ...waiting }, another),
    post('/ingest/orders', { ...json, Prefer: 'handling=strict' }, order),
    post('/ingest/orders', { ...json, 'Idempotency-Key': 'a b' }, order),
    post('/ingest/orders', { ...json, 'Content-Type': 'application/json; charset=latin1' }, order),
    post('/ingest/orders', { ...json, 'Content-Encoding': 'br' }, order),
    post('/ingest/orders', { 'Content-Type': 'application/json' }, order),
    post('/ingest/orders', { ...json, Authorization: `Bearer ${createApiKey()}` }, order),
    post('/ingest/orders', { ...json, Authorization: `Basic ${account.key}` }, order),
    post('/ingest/orders', json, Buffer.from('{"source_order_id":"\xff"}', 'latin1')),
    post('/ingest/orders', json, '{"source_order_id":7}'),
    post('/ingest/orders', json, '{"source_order_id":"x"'),
    post('/ingest/orders', json, ''),
    post('/ingest/orders', json, `"${'x'.repeat(262_144)}"`),
    post('/ingest/webhook', json, order),
    post('/ingest/webhook', { ...json, 'x-service-signature': 'x' }, order),
    post('/ingest/webhook', signed(other), order),
    post('/ingest/orders/cancel', { ...json, ...waiting, 'Idempotency-Key': 'a b' }, cancellation),
    post('/ingest/webhook/cancel', signed(cancellation), cancellation),
    post('/ingest/orders/cancel', json, '{"source_order_id":"like-3"}'),
    post('/ingest/webhook/cancel', { ...signed(list), 'X-Request-Id': 'mine' }, list),
    post('/ingest/orders', { ...json, ...waiting }, order.replace('like-1', 'like-3')),
    post('/ingest/orders', { ...json, ...waiting }, order.replace('like-1', 'like-3').replace('free', '5')),
    post('/ingest/webhook', { ...signed(other), ...waiting }, other),
    post('/ingest/webhook/cancel', signed(list), list),
    post('/ingest/orders/cancel', json, list.replace('like-3', '').replace('}]', '},7]')),
    post('/ingest/orders/cancel', json, cancellation.replace('Sold out', 'x'.repeat(501))),
    post('/ingest/orders/cancel', json, '{"cancellations":[]}'),
    post('/ingest/orders/cancel', json, '{"cancellations":[],"source_order_id":"like-1"}'),
    post('/ingest/orders/cancel', json, '[]'),
    post('/ingest/orders/cancel', json, ''),
    post('/ingest/orders/cancel', json, `"${'x'.repeat(1_048_576)}"`),
    post('/ingest/orders/cancel', { ...json, 'Content-Type': 'text/plain' }, cancellation),
    post('/ingest/orders/cancel', { 'Content-Type': 'application/json' }, cancellation),
    post('/ingest/webhook/cancel', json, cancellation),
    post('/ingest/webhook/cancel', signed(list), cancellation),
    post('/ingest/webhook/cancel/', json, cancellation),
    { path: '/ingest/orders/cancel', init: { headers: bearer } },
    post('/ingest/none', json, order),
    post('/ingest/orders/', json, order),
    { path: '/ingest/orders?x=1', init: { headers: bearer } },
    { path: '/ingest/status/01a1f9bd-9a17-7354-8023-e51a3a7d2f89', init: { headers: bearer } },
    { path: '/ingest/status/x', init: {} },
    { path: '/ingest/status/x', init: { method: 'DELETE', headers: bearer } },
  ];
  /** The listener's ids by those of the service. */
  const same = new Map<string, string>();
  for (const { path, init } of requests) {
    const theirs = await replyOf(intake.api.url, path, init);
    const ours = await replyOf(listener.url, path, init);
    expect({ path, init, reply: ours.masked }).toEqual({ path, init, reply: theirs.masked });
    for (const [index, their] of theirs.ids.entries()) {
      const our = ours.ids[index] as string;
      expect(same.get(their) ?? our).toBe(our);
      same.set(their, our);
    }
  }
  const receipts = [...same].filter(([id]) => id.match(UUID));
  expect(receipts).toHaveLength(10);
  for (const [their, our] of receipts) {
    const theirs = await replyOf(intake.api.url, `/ingest/status/${their}`, { headers: { ...bearer, ...waiting } });
    const ours = await replyOf(listener.url, `/ingest/status/${our}`, { headers: { ...bearer, ...waiting } });
    expect(ours.masked).toEqual(theirs.masked);
  }
});
