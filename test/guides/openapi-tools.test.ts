import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  lintWithRedocly,
  type PostmanRequest,
  type Prism,
  postmanRequests,
  runTypedSender,
  spectralProblems,
  startPrism,
} from '@orders/openapi-tools';
import { type Api, openApi } from '../harness/api.ts';
import { closeAtEnd } from '../harness/close-at-end.ts';
import { sign } from '../harness/sign.ts';
import { type RunningIntake, type Stack, startStack, type TestAccount } from '../harness/stack.ts';

const FIXTURES = resolve(import.meta.dirname, '../../packages/domain/test/fixtures');
const MESSY: { payload: { source_order_id: string } }[] = JSON.parse(readFileSync(`${FIXTURES}/messy.json`, 'utf8'));

let stack: Stack;
let intake: RunningIntake;
let document: object;
let account: TestAccount;

beforeAll(async () => {
  stack = await startStack('postgres');
  intake = await stack.intake();
  await stack.worker();
  document = (await intake.api.send('GET', '/openapi.json')).body;
  account = await stack.account({ signing: true });
});

test('Spectral and Redocly find nothing wrong with the document', async () => {
  expect(await spectralProblems(document)).toEqual([]);
  await lintWithRedocly(`${intake.api.url}/openapi.json`);
});

test('a client with types from openapi-typescript compiles and sends an order and a batch', async () => {
  const output = await runTypedSender(document, intake.api.url, account.key);
  expect(output).toBe('written 0 stored stored validation_failed\n');
});

describe('a Postman collection', () => {
  const send = (request: PostmanRequest, body = request.body) => {
    const key = { Authorization: `Bearer ${account.key}` };
    const signature = { 'x-service-signature': sign(account.secret, body ?? '') };
    const isSigned = 'x-service-signature' in request.headers;
    return intake.api.send(
      request.method,
      request.path,
      { ...request.headers, ...key, ...(isSigned && signature) },
      body,
    );
  };

  test.each(['Example', 'Schema'] as const)(
    'that takes values from each %s sends requests that are accepted',
    async (from) => {
      const all = await postmanRequests(document, from);
      // A delivery to a source needs a platform's signature.
      const requests = all.filter(({ method, path }) => method === 'POST' && !path.startsWith('/ingest/sources'));
      expect(requests).toHaveLength(7);
      for (const request of requests) {
        const { status } = await send(request);
        expect({ path: request.path, isAccepted: status === 200 || status === 202 }).toEqual({
          path: request.path,
          isAccepted: true,
        });
      }
    },
  );

  test('sends no key, so that an edited order is not a repeat', async () => {
    const requests = await postmanRequests(document, 'Example');
    const names = requests.flatMap(({ headers }) => Object.keys(headers).map((name) => name.toLowerCase()));
    expect(names).not.toContain('idempotency-key');
    const [order] = requests as [PostmanRequest];
    const edited = order.body?.replace('SHOP-10001', 'SHOP-20001');
    const { body } = await send(order, edited);
    expect(body).toEqual({ receipt_id: expect.any(String), status: 'written', order_id: expect.any(Number) });
  });
});

describe('prism, which rejects what breaks the document', () => {
  let prism: Prism;
  let api: Api;

  beforeAll(async () => {
    prism = closeAtEnd(await startPrism(`${intake.api.url}/openapi.json`, intake.api.url));
    api = await openApi(prism.url);
  });

  test('accepts every order that the service accepts', async () => {
    for (const { payload } of MESSY) {
      const { status, body } = await api.order(account, payload);
      expect({ payload, status, body }).toMatchObject({ payload, status: 202 });
    }
  });

  test('lets an order pass from its preview to its cancellation', async () => {
    const order = { source_order_id: 'through-prism', items: '2 soups', total: { amount: 12 } };
    expect((await api.preview(account, order)).body.warnings).toHaveLength(2);
    const sent = await api.webhook(account, order, { 'Idempotency-Key': 'through-prism' });
    expect((await api.final(account, sent.body.receipt_id)).body.status).toBe('written');
    const { body } = await api.batch(account, [order, 'no order', { source_order_id: 7 }]);
    expect(body).toMatchObject({ accepted: 1, refused: 2 });
    expect((await api.final(account, body.results[0].receipt_id)).body.status).toBe('duplicate');
    const lines = await api.batch(account, Buffer.from('{"source_order_id":"line-1","items":7}\nno order\n'));
    expect(lines.body).toMatchObject({ accepted: 1, refused: 1 });
    const cancelled = await api.cancel(account, { source_order_id: order.source_order_id, reason: null });
    expect(cancelled.body.outcome).toBe('cancelled');
    const { results } = (await api.reconcile(account, [order.source_order_id, 'never'])).body;
    expect(results.map(({ status }: { status: string }) => status)).toEqual(['duplicate', 'never_seen']);
  });

  test('rejects an order that the service would reject', async () => {
    const headers = { Authorization: `Bearer ${account.key}`, 'Content-Type': 'application/json' };
    const reply = await fetch(`${prism.url}/ingest/orders`, { method: 'POST', headers, body: '{"source_order_id":7}' });
    expect(await reply.json()).toMatchObject({ title: 'Invalid request' });
  });
});
