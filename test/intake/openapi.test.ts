import { expect, test } from '@jest/globals';
import { createEndpoint, requestTest } from '@orders/database/endpoints/endpoints.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { PROBLEMS } from '@orders/domain/problems.ts';
import { exactDocument } from '@orders/intake/docs/openapi/document.ts';
import { asOfLaterVersion } from '@orders/openapi-tools/later-version';
import { until } from '@orders/test-services/until.ts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { startEventReceiver } from '../harness/event-receiver.ts';
import { useStack } from '../harness/use-stack.ts';
import { checkAgainst, checkReply } from '../jest/openapi-check.ts';

/** A webhook of the document, as far as the test reads it. */
interface Webhook {
  parameters: { name: string; schema: { pattern?: string } }[];
  requestBody: { content: { 'application/json': { schema: object; examples: Record<string, { value: unknown }> } } };
}

/** The exact document, as far as the test reads it. */
interface Documented {
  webhooks: Record<string, { post: Webhook }>;
  components: object;
}

const { stack, db, api } = useStack({ intake: { BASE_PATH: '/delivery/api' } });

test('/openapi.json is an OpenAPI 3.1 document that names each route and each problem code', async () => {
  const { status, body } = await api.send('GET', '/openapi.json');
  expect(status).toBe(200);
  expect(body.openapi).toMatch(/^3\.1\./);
  expect(Object.keys(body.paths)).toEqual([
    '/ingest/orders',
    '/ingest/orders/batch',
    '/ingest/webhook',
    '/ingest/orders/cancel',
    '/ingest/webhook/cancel',
    '/ingest/sources/{source_id}',
    '/ingest/preview',
    '/ingest/reconcile',
    '/ingest/status/{receipt_id}',
    '/ingest/events',
    '/openapi.json',
  ]);
  const ofRoutes = JSON.stringify(body.paths);
  const ofAnyRoute = Object.keys(PROBLEMS).filter((code) => !['not_found', 'method_not_allowed'].includes(code));
  expect(ofAnyRoute.filter((code) => !ofRoutes.includes(`\`${code}\``))).toEqual([]);
  expect(body.servers).toEqual([{ url: '/delivery/api' }]);
});

test('the published document, and not the exact one, accepts the replies of a later version', async () => {
  await stack.worker();
  const account = await stack.account();
  await setEvents(db, account.id, true);
  const written = await api.process(account, { source_order_id: 'later', emirate: 'Sharjha' });
  const order = { source_order_id: 'later-2' };
  const replies: [method: string, path: string, reply: Awaited<ReturnType<typeof api.send>>][] = [
    ['POST', '/ingest/orders', await api.order(account, order)],
    ['POST', '/ingest/orders', await api.order(account, 'no JSON')],
    ['POST', '/ingest/orders/batch', await api.batch(account, [order, 7])],
    ['POST', '/ingest/orders/cancel', await api.cancel(account, order)],
    ['POST', '/ingest/preview', await api.preview(account, order)],
    ['POST', '/ingest/reconcile', await api.reconcile(account, ['later', 'never'])],
    ['GET', `/ingest/status/${written.receipt_id}`, await api.status(account, written.receipt_id)],
    [
      'GET',
      '/ingest/events',
      await until('an event', async () => {
        const page = await api.events(account);
        return page.body.events.length > 0 && page;
      }),
    ],
  ];
  const checkPublished = checkAgainst((await api.send('GET', '/openapi.json')).body);
  for (const [method, path, reply] of replies) {
    checkPublished(method, path, reply);
    const later = { ...reply, body: asOfLaterVersion(reply.body) };
    checkPublished(method, path, later);
    expect(() => checkReply(method, path, later)).toThrow(path.replace(written.receipt_id, '{receipt_id}'));
  }
});

test('the published document takes the same requests as the exact one', async () => {
  const { paths, components } = (await api.send('GET', '/openapi.json')).body;
  const exact = exactDocument('/delivery/api') as typeof components;
  for (const [path, operations] of Object.entries<Record<string, { requestBody?: object }>>(exact.paths))
    for (const [method, { requestBody }] of Object.entries(operations))
      expect([path, paths[path][method].requestBody]).toEqual([path, requestBody]);
  for (const name of ['Order', 'Cancellation', 'CancellationList'])
    expect(components.schemas[name]).toEqual(exact.components.schemas[name]);
});

test('each example of an order is read without a warning', async () => {
  const { paths } = (await api.send('GET', '/openapi.json')).body;
  const { examples } = paths['/ingest/orders'].post.requestBody.content['application/json'];
  const account = await stack.account();
  for (const { value } of Object.values<{ value: object }>(examples)) {
    expect((await api.preview(account, value)).body).toMatchObject({ warnings: [] });
  }
});

test('what is delivered to endpoints matches the webhooks of the document', async () => {
  const { webhooks, components } = exactDocument('') as Documented;
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'document', components });
  await stack.worker();
  await stack.notifier();
  const receiver = await startEventReceiver();
  const account = await stack.account();
  await setEvents(db, account.id, true);
  const options = { accountId: account.id, url: receiver.url, types: null };
  const endpoint = await createEndpoint(db, stack.secretsKey, options);
  await requestTest(db, endpoint);
  await api.order(account, { source_order_id: 'documented', emirate: 'Sharjha' });
  await until('both are delivered', async () => receiver.received.length === 2);
  await receiver.close();
  expect(Object.keys(webhooks)).toEqual(['event', 'endpoint.test']);
  for (const [name, { post }] of Object.entries(webhooks)) {
    const { schema, examples } = post.requestBody.content['application/json'];
    const validate = ajv.compile(
      JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"document#/components')),
    );
    const delivered = receiver.received.filter(({ event }) => (event.type === 'endpoint.test') === (name !== 'event'));
    expect(delivered).toHaveLength(1);
    for (const body of [...delivered.map(({ event }) => event), ...Object.values(examples).map(({ value }) => value)])
      expect([validate(body), validate.errors]).toEqual([true, null]);
    for (const header of post.parameters)
      expect(delivered[0]?.headers[header.name]).toMatch(new RegExp(header.schema.pattern ?? '^v1,|^evt_'));
    expect(validate({ ...delivered[0]?.event, more: 1 })).toBe(false);
  }
});

test('/docs refers only to scripts, styles and images that this service ships', async () => {
  const page = await api.send('GET', '/docs');
  expect(page.headers['content-type']).toMatch(/^text\/html/);
  expect(page.headers['content-security-policy']).toContain("default-src 'none'");
  const references = [...String(page.body).matchAll(/(?:src|href)="([^"]+)"/g)].map(
    ([, reference]) => reference as string,
  );
  expect(references.length).toBeGreaterThanOrEqual(4);
  for (const reference of references) {
    expect(reference).toMatch(/^\/delivery\/api\/docs\//);
    const file = await fetch(new URL(reference, api.url));
    expect({ reference, status: file.status }).toEqual({ reference, status: 200 });
  }
});

test.each([
  ['POST', '/docs', 405],
  ['GET', '/docs/none.js', 404],
])('%s %s gets %d', async (method, path, status) => {
  expect((await api.send(method, path)).status).toBe(status);
});

test('a precondition or a range on a file of the page causes no 5xx reply', async () => {
  const file = `${api.url}/docs/swagger-ui.css`;
  expect((await fetch(file, { headers: { Range: 'bytes=99999999-' } })).status).toBe(200);
  expect((await fetch(file, { headers: { 'If-Match': '"x"' } })).status).toBe(404);
});

test('BASE_PATH prefixes every route and Location', async () => {
  const account = await stack.account();
  const { status, headers, body } = await api.order(account, { source_order_id: 'prefixed' });
  expect(status).toBe(202);
  expect(headers.location).toBe(`/delivery/api/ingest/status/${body.receipt_id}`);
  const bare = await fetch(new URL('/ingest/orders', api.url), { method: 'POST' });
  expect(bare.status).toBe(404);
});
