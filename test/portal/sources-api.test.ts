import { describe, expect, test } from '@jest/globals';
import { PRESETS } from '@orders/domain/sources/presets.ts';
import { until } from '@orders/test-services/until.ts';
import type { Reply } from '../harness/api.ts';
import { createPerson, openShop, type PortalClient, signIn } from '../harness/people.ts';
import { createTestSource, deliver, SOURCE_SECRET, shopifyHeaders, wooCommerceHeaders } from '../harness/sources.ts';
import { listChanges } from '../harness/stored.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, api, portal } = useStack({ intake: { BASE_PATH: '/api' }, worker: true, portal: true });

async function holder() {
  const shop = await openShop(stack, portal, { signing: false });
  return { ...shop, base: `${shop.base}/sources` };
}

const refused = (reply: Reply) => ({ status: reply.status, code: reply.body.code, errors: reply.body.errors });
const pointersOf = ({ body }: Reply) => body.errors.map(({ pointer }: { pointer: string }) => pointer);

/** Sends an order to a URL as WooCommerce does. */
const send = (url: string, order: object, secret: string) => {
  const body = JSON.stringify(order);
  return deliver(api, { source_id: url.split('/').at(-1) as string }, body, {
    ...wooCommerceHeaders(body, 'order.created', secret),
  });
};

describe('a source', () => {
  test('shows its URL only to those who may develop', async () => {
    const { account, client, base } = await holder();
    await client.post(base, { name: 'shop', preset: 'shopify' });
    const urlFor = async (role: 'viewer' | 'reviewer' | 'developer') => {
      const member = await signIn(portal, await createPerson(stack, account.id, role));
      return (await member.get(base)).body.sources[0].url;
    };
    expect([await urlFor('viewer'), await urlFor('reviewer')]).toEqual([null, null]);
    expect(await urlFor('developer')).toMatch(/\/ingest\/sources\/src_/);
  });

  test('is created with a secret that is shown once, takes deliveries, and is listed with its activity', async () => {
    const { client, base } = await holder();
    const created = await client.post(base, { name: ' My shop ', preset: 'woocommerce' });
    expect(created).toMatchObject({
      status: 201,
      headers: { 'cache-control': 'no-store, no-transform' },
      body: {
        name: 'My shop',
        id_prefix: 'my-shop',
        is_used: false,
        mapping_version: 1,
        secret: expect.stringMatching(/^oss_/),
      },
    });
    const { url, secret } = created.body;
    expect(url).toMatch(`${api.url}/ingest/sources/src_`);
    expect(await send(url, { id: 7, total: '10.00' }, secret)).toMatchObject({ status: 202 });
    expect(await send(url, { total: '10.00' }, secret)).toMatchObject({ status: 202 });
    expect(await send(url, { id: 8 }, 'another secret')).toMatchObject({ status: 401 });
    const [listed] = await until('its activity is counted', async () => {
      const { sources } = (await client.get(base)).body;
      return Object.keys(sources[0].counts).length === 3 && sources;
    });
    expect(listed).toEqual({
      ...Object.fromEntries(Object.entries(created.body).filter(([name]) => name !== 'secret')),
      is_used: true,
      last_at: expect.any(String),
      counts: { order: 1, mapping_failed: 1, rejected: 1 },
      dead: 1,
    });
    const { deliveries, newest_failed } = (await client.get(`${base}/${listed.source_number}/deliveries`)).body;
    expect(deliveries).toMatchObject([
      { state: 'dead', error_code: 'mapping_failed', delivery_kind: 'order', raw: '{"total":"10.00"}' },
      { error_code: null, source_order_id: 'my-shop:7', raw: '{"id":7,"total":"10.00"}' },
    ]);
    expect(newest_failed).toBe(deliveries[0].receipt_id);
  });

  test('shows a delivery that failed however many came after it, to its own account and under its own source only', async () => {
    const { client, base, account } = await holder();
    const { url, secret, source_number } = (await client.post(base, { name: 'shop', preset: 'woocommerce' })).body;
    const other = (await client.post(base, { name: 'other', preset: 'woocommerce' })).body;
    const { receipt_id } = (await send(url, { total: '10.00' }, secret)).body;
    for (let id = 1; id <= 10; id += 1) await send(url, { id }, secret);
    const list = `${base}/${source_number}/deliveries`;
    const { deliveries, newest_failed } = await until('all are counted', async () => {
      const { body } = await client.get(list);
      return body.deliveries.length === 10 && body;
    });
    expect(JSON.stringify(deliveries)).not.toContain(receipt_id);
    expect(newest_failed).toBe(receipt_id);
    expect(await client.get(`${list}/${receipt_id}`)).toMatchObject({
      status: 200,
      body: { receipt_id, state: 'dead', error_code: 'mapping_failed', raw: '{"total":"10.00"}' },
    });
    const theirs = await holder();
    const theirSource = (await theirs.client.post(theirs.base, { name: 'shop', preset: 'woocommerce' })).body;
    const notFound = { status: 404, code: 'receipt_not_found' };
    const ofOther = `${base}/${other.source_number}/deliveries`;
    expect((await client.get(ofOther)).body).toEqual({ deliveries: [], newest_failed: null });
    expect(refused(await client.get(`${ofOther}/${receipt_id}`))).toMatchObject(notFound);
    const asTheirs = `${theirs.base}/${theirSource.source_number}/deliveries/${receipt_id}`;
    expect(refused(await theirs.client.get(asTheirs))).toMatchObject(notFound);
    expect(refused(await client.get(`${list}/x`))).toMatchObject(notFound);
    await knex('receipts').where({ account_id: account.id, receipt_id }).update({ erased_at: new Date() });
    expect(refused(await client.get(`${list}/${receipt_id}`))).toMatchObject(notFound);
    expect((await client.get(list)).body.newest_failed).toBeNull();
  });

  test('takes a mapping that was made from its last version, and rejects one from an older version', async () => {
    const { client, base, account } = await holder();
    const { source_number } = (await client.post(base, { name: 'shop', preset: 'woocommerce' })).body;
    const save = (order_number: string, version?: unknown) =>
      client.put(`${base}/${source_number}/mapping`, {
        mapping: { source_order_id: '/id', order_number },
        ...(version !== undefined && { version }),
      });
    for (const version of [undefined, 0, 'one']) expect(pointersOf(await save('/a', version))).toEqual(['/version']);
    const replies = await Promise.all([save('/a', 1), save('/b', 1)]);
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(refused(await save('/c', 1))).toMatchObject({ status: 409, code: 'conflicting_state' });
    expect(refused(await save('/c', 3))).toMatchObject({ status: 409, code: 'conflicting_state' });
    expect(await save('/c', 2)).toMatchObject({ status: 200, body: { mapping_version: 3 } });
    const { mappings } = (await client.get(`${base}/${source_number}/mappings`)).body;
    expect(mappings.map(({ version }: { version: number }) => version)).toEqual([3, 2, 1]);
    const actions = (await listChanges(knex, account.id)).map(({ action }) => action);
    expect(actions).toEqual(['source_mapping_changed', 'source_mapping_changed', 'source_created']);
  });

  test('takes the secret of the platform, which no reply contains', async () => {
    const { client, base, account } = await holder();
    const secret = 'shop_0123456789abcdef';
    const created = await client.post(base, { name: 'shop', preset: 'woocommerce', secret: ` ${secret}\n`.trim() });
    const { url, source_number } = created.body;
    expect(await send(url, { id: 1 }, secret)).toMatchObject({ status: 202 });
    const newer = 'shop_fedcba9876543210';
    const replaced = await client.post(`${base}/${source_number}/secret`, { secret: newer, overlap: '1h' });
    expect((Date.parse(replaced.body.previous_until) - Date.now()) / 3_600_000).toBeCloseTo(1, 1);
    for (const one of [secret, newer]) expect(await send(url, { id: 1 }, one)).toMatchObject({ status: 202 });
    const made = await client.post(`${base}/${source_number}/secret`, { overlap: 'none' });
    expect(made).toMatchObject({
      status: 200,
      headers: { 'cache-control': 'no-store, no-transform' },
      body: { previous_until: null, secret: expect.stringMatching(/^oss_/) },
    });
    await until('the old one is rejected', async () => (await send(url, { id: 1 }, newer)).status === 401);
    expect(await send(url, { id: 1 }, made.body.secret)).toMatchObject({ status: 202 });
    const audit = await listChanges(knex, account.id);
    const replies = [created.body, replaced.body, (await client.get(base)).body, audit];
    const kept = JSON.stringify(replies) + portal.log.text();
    for (const one of [secret, newer, made.body.secret]) expect(kept).not.toContain(one);
  });

  test('gets another URL, is removed, and leaves an audit trail', async () => {
    const { client, base, account, person } = await holder();
    const { url, source_number, secret } = (await client.post(base, { name: 'shop', preset: 'woocommerce' })).body;
    const moved = (await client.post(`${base}/${source_number}/replace-url`)).body;
    expect(moved.url).not.toBe(url);
    expect(await send(url, { id: 1 }, secret)).toMatchObject({ status: 404 });
    expect(await send(moved.url, { id: 1 }, secret)).toMatchObject({ status: 202 });
    const mapping = { source_order_id: '/number' };
    expect((await client.put(`${base}/${source_number}/mapping`, { mapping, version: 1 })).body.mapping_version).toBe(
      2,
    );
    const { mappings } = (await client.get(`${base}/${source_number}/mappings`)).body;
    expect(mappings).toMatchObject([
      { version: 2, mapping, created_by: person.email },
      { version: 1, mapping: PRESETS.woocommerce.mapping, created_by: person.email },
    ]);
    expect(await client.delete(`${base}/${source_number}`)).toMatchObject({ status: 204 });
    expect((await client.get(base)).body).toEqual({ sources: [] });
    expect(await client.delete(`${base}/${source_number}`)).toMatchObject({ status: 404 });
    const events = await listChanges(knex, account.id);
    const common = { actor: person.email, subject: `source:${source_number}` };
    expect(events).toMatchObject([
      { ...common, action: 'source_removed', details: { name: 'shop' } },
      { ...common, action: 'source_mapping_changed', details: { name: 'shop', version: 2 } },
      { ...common, action: 'source_url_replaced', details: { name: 'shop' } },
      { ...common, action: 'source_created', details: { name: 'shop', preset: 'woocommerce' } },
    ]);
    const log = (await client.get(`/accounts/${account.id}/audit`)).body;
    expect(log.events[0].about).toEqual({ name: 'shop', detail: null });
  });

  test('has a prefix of its own, which can be changed until it has an order', async () => {
    const { client, base, account, person } = await holder();
    const open = async (name: string, more: object = {}) =>
      (await client.post(base, { name, preset: 'woocommerce', ...more })).body;
    const first = await open('Lamps, web shop');
    expect(first).toMatchObject({ id_prefix: 'lamps-web-shop', is_used: false });
    expect(await open('Lamps – Web Shop')).toMatchObject({ id_prefix: 'lamps-web-shop-2' });
    expect(await open('متجر المصابيح')).toMatchObject({ id_prefix: 'woocommerce' });
    expect(await open('by the API too', { id_prefix: '' })).toMatchObject({ id_prefix: '' });
    const taken = { name: 'x', preset: 'custom', settings: { signature: CUSTOM }, id_prefix: 'lamps-web-shop' };
    expect(refused(await client.post(base, taken))).toMatchObject({ status: 409, code: 'id_prefix_taken' });

    const change = (id_prefix: string) => client.put(`${base}/${first.source_number}/id-prefix`, { id_prefix });
    for (const wrong of ['Lamps', 'lamps:', '-lamps', 'lamps-', 'مصابيح', 'x'.repeat(31)])
      expect(refused(await change(wrong))).toMatchObject({ status: 422, errors: [{ code: 'id_prefix_invalid' }] });
    for (const other of ['', 'woocommerce'])
      expect(refused(await change(other))).toMatchObject({ status: 409, code: 'id_prefix_taken' });
    expect(await change('lamps')).toMatchObject({ status: 200, body: { id_prefix: 'lamps', is_used: false } });
    expect(await listChanges(knex, account.id)).toMatchObject([
      { actor: person.email, action: 'source_id_prefix_changed', details: { id_prefix: 'lamps' } },
      ...Array(4).fill({ action: 'source_created' }),
    ]);

    const reply = await send(first.url, { id: 7, number: '7' }, first.secret);
    expect(await knex('receipts').where(reply.body).first()).toMatchObject({ source_order_id: 'lamps:7' });
    expect(refused(await change('other'))).toMatchObject({ status: 409, code: 'id_prefix_fixed' });
    expect(await change('lamps')).toMatchObject({ status: 200, body: { id_prefix: 'lamps', is_used: true } });

    await client.delete(`${base}/${first.source_number}`);
    expect(await open('Lamps, web shop')).toMatchObject({ id_prefix: 'lamps-web-shop' });
    expect(await open('Lamps')).toMatchObject({ id_prefix: 'lamps-2' });
    expect(await open('the same shop', { id_prefix: 'lamps' })).toMatchObject({ id_prefix: 'lamps' });
  });

  test('says what each status of its platform becomes, with its own mapping', async () => {
    const { client, base } = await holder();
    const lifeOf = async (preset: string, more: object = {}) => {
      const { source_number } = (await client.post(base, { name: preset, preset, ...more })).body;
      return (await client.get(`${base}/${source_number}/life`)).body.life;
    };
    const paid = { says: ['under_review', 'in_progress'], kind: 'order', payment_state: 'paid' };
    expect(await lifeOf('salla')).toContainEqual(paid);
    const mapping = { source_order_id: '/data/id', payment_state: { constant: 'refunded' } };
    expect(await lifeOf('salla', { mapping })).not.toContainEqual(paid);
    expect(await lifeOf('standard-webhooks')).toEqual([]);
  });

  test('of another account is not found, and no route answers without a session', async () => {
    const { client, base } = await holder();
    const [other, theirs] = [await stack.account(), await holder()];
    const { source_number } = await createTestSource(stack, other, 'shopify');
    const mapping = { source_order_id: '/id' };
    const routes: ((client: PortalClient, base: string, number: unknown) => Promise<Reply>)[] = [
      (one, at, number) => one.put(`${at}/${number}/mapping`, { mapping, version: 1 }),
      (one, at, number) => one.get(`${at}/${number}/mappings`),
      (one, at, number) => one.post(`${at}/${number}/secret`, { overlap: 'none' }),
      (one, at, number) => one.post(`${at}/${number}/replace-url`),
      (one, at, number) => one.put(`${at}/${number}/id-prefix`, { id_prefix: 'x' }),
      (one, at, number) => one.delete(`${at}/${number}`),
      (one, at, number) => one.get(`${at}/${number}/life`),
      (one, at, number) => one.get(`${at}/${number}/deliveries`),
      (one, at, number) => one.get(`${at}/${number}/deliveries/01a1f9bd-9a17-7354-8023-e51a3a7d2f89`),
    ];
    for (const number of [source_number, 2 ** 30, 2 ** 31, 10 ** 14, 'x', '0'])
      for (const ask of routes)
        expect(refused(await ask(client, base, number))).toMatchObject({ status: 404, code: 'source_not_found' });
    const all = [
      ...routes,
      (one: PortalClient, at: string) => one.get(at),
      (one: PortalClient, at: string) => one.post(at, { name: 'x', preset: 'shopify' }),
      (one: PortalClient, at: string) => one.post(`${at}/preview`, { mapping, delivery: '{}' }),
    ];
    for (const ask of all)
      expect(refused(await ask(client, theirs.base, 1))).toMatchObject({ status: 404, code: 'account_not_found' });
    await client.delete('/session');
    for (const ask of all)
      expect(refused(await ask(client, base, 1))).toMatchObject({ status: 401, code: 'not_signed_in' });
  });
});

const CUSTOM = { scheme: 'hmac', header: 'X-Shop-Signature', algorithm: 'sha1', encoding: 'base64', prefix: 'v1=' };

describe('the settings of a source', () => {
  test('are those that the account chose for a custom source, and the topics for standard webhooks', async () => {
    const { client, base } = await holder();
    const settings = {
      signature: CUSTOM,
      deliveryId: { header: 'x-delivery' },
      topic: { pointer: '/event' },
      topics: { order: ['order.paid'] },
      cancelledIf: { pointer: '/state', values: ['void'] },
    };
    const custom = await client.post(base, { name: 'a', preset: 'custom', settings });
    expect(custom.body.settings).toEqual({
      ...settings,
      signature: { ...CUSTOM, header: 'x-shop-signature' },
      topics: { order: ['order.paid'], cancellation: [] },
    });
    const token = { signature: { scheme: 'token', header: 'authorization', prefix: 'Bearer ' } };
    expect((await client.post(base, { name: 'b', preset: 'custom', settings: token })).body.settings).toEqual(token);
    const topics = { order: ['order.placed'], cancellation: ['order.void'] };
    const standard = await client.post(base, { name: 'c', preset: 'standard-webhooks', settings: { topics } });
    expect(standard.body).toMatchObject({
      settings: { ...PRESETS['standard-webhooks'].settings, topics },
      secret: expect.stringMatching(/^whsec_/),
    });
  });

  test.each<[pointer: string, body: object]>([
    ['/name', { name: ' ', preset: 'shopify' }],
    ['/name', { name: 'x'.repeat(101), preset: 'shopify' }],
    ['/preset', { name: 'x', preset: 'other' }],
    ['/secret', { name: 'x', preset: 'shopify', secret: 'short' }],
    ['/secret', { name: 'x', preset: 'shopify', secret: 'x'.repeat(1001) }],
    ['/secret', { name: 'x', preset: 'standard-webhooks', secret: 'whsec_c2hvcnQ=' }],
    ['/secret', { name: 'x', preset: 'standard-webhooks', secret: 'not base64 at all, but long enough' }],
    ['/settings/signature', { name: 'x', preset: 'shopify', settings: { signature: CUSTOM } }],
    ['/settings/signature', { name: 'x', preset: 'custom', settings: {} }],
    ['/settings/signature', { name: 'x', preset: 'standard-webhooks', settings: { signature: CUSTOM } }],
    ['/settings/signature/scheme', custom({ signature: { ...CUSTOM, scheme: 'none' } })],
    ['/settings/signature/header', custom({ signature: { ...CUSTOM, header: 'x signature' } })],
    ['/settings/signature/header', custom({ signature: { ...CUSTOM, header: 'x'.repeat(101) } })],
    ['/settings/signature/algorithm', custom({ signature: { ...CUSTOM, algorithm: 'md5' } })],
    ['/settings/signature/encoding', custom({ signature: { ...CUSTOM, encoding: undefined } })],
    ['/settings/signature/prefix', custom({ signature: { ...CUSTOM, prefix: 'x'.repeat(51) } })],
    ['/settings/signature/algorithm', custom({ signature: { ...CUSTOM, scheme: 'token', encoding: undefined } })],
    ['/settings', custom({ signature: CUSTOM, topics: { order: ['a'] } })],
    ['/settings/topic', custom({ signature: CUSTOM, topic: { header: 'a', pointer: '/a' }, topics: { order: ['a'] } })],
    ['/settings/topic/pointer', custom({ signature: CUSTOM, topic: { pointer: 'event' }, topics: { order: ['a'] } })],
    [
      '/settings/topics/order/0',
      custom({ signature: CUSTOM, topic: { pointer: '/a' }, topics: { order: ['x'.repeat(101)] } }),
    ],
    [
      '/mapping/customer/phone',
      { name: 'x', preset: 'shopify', mapping: { source_order_id: '/id', customer: { phone: 'phone' } } },
    ],
    ['/mapping', { name: 'x', preset: 'shopify', mapping: [] }],
  ])('are refused with the pointer %s for %j', async (pointer, body) => {
    const { client, base } = await holderOnce();
    const reply = await client.post(base, body);
    expect(refused(reply)).toMatchObject({ status: 422, code: 'invalid_request' });
    expect(pointersOf(reply)).toContain(pointer);
    expect((await client.get(base)).body.sources).toEqual([]);
  });

  test('are those of the new secret when it is replaced', async () => {
    const { client, base } = await holder();
    const { source_number } = (await client.post(base, { name: 'x', preset: 'standard-webhooks' })).body;
    const path = `${base}/${source_number}/secret`;
    expect(pointersOf(await client.post(path, { overlap: '2h' }))).toEqual(['/overlap']);
    expect(pointersOf(await client.post(path, { overlap: '1h', secret: 'a secret of a shop' }))).toContain('/secret');
  });
});

function custom(settings: object): object {
  return { name: 'x', preset: 'custom', settings };
}

let once: ReturnType<typeof holder> | undefined;
function holderOnce() {
  once ??= holder();
  return once;
}

describe('a preview of a mapping', () => {
  test('is the order that would be stored, with its warnings', async () => {
    const { client, base } = await holderOnce();
    const mapping = {
      source_order_id: '/id',
      customer: { phone: '/phone' },
      currency: { constant: 'AED' },
      emirate: '/country',
    };
    const delivery = '{"id": 820982911946154508, "phone": "050 123 4567", "country": "xx"}';
    const preview = await client.post(`${base}/preview`, { mapping, delivery });
    expect(preview).toMatchObject({
      status: 200,
      body: {
        is_mapped: true,
        order: { source_order_id: '820982911946154508', customer: { phone: '+971501234567' }, currency: 'AED' },
        warnings: expect.arrayContaining([expect.objectContaining({ pointer: '/emirate', severity: 'check' })]),
      },
    });
    const without = await client.post(`${base}/preview`, { mapping: { source_order_id: '/number' }, delivery });
    expect(without.body).toMatchObject({ is_mapped: false, order: { source_order_id: '' } });
  });

  test.each<[pointer: string, body: object]>([
    ['/mapping', { delivery: '{}' }],
    ['/mapping/source_order_id', { mapping: {}, delivery: '{}' }],
    ['/mapping/items/list', { mapping: { source_order_id: '/id', items: { name: '/name' } }, delivery: '{}' }],
    ['/delivery', { mapping: { source_order_id: '/id' }, delivery: 'no JSON' }],
    ['/delivery', { mapping: { source_order_id: '/id' }, delivery: '[]' }],
    ['/delivery', { mapping: { source_order_id: '/id' }, delivery: `${'['.repeat(100)}` }],
    ['/delivery', { mapping: { source_order_id: '/id' }, delivery: 'x'.repeat(131_073) }],
  ])('is refused with the pointer %s', async (pointer, body) => {
    const { client, base } = await holderOnce();
    const reply = await client.post(`${base}/preview`, body);
    expect(refused(reply)).toMatchObject({ status: 422, code: 'invalid_request' });
    expect(pointersOf(reply)).toEqual([pointer]);
  });

  test('takes a long delivery, and a few at a time for each account', async () => {
    const { client, base } = await holderOnce();
    const item = { name: '"Lamp"', quantity: 1 };
    const delivery = JSON.stringify({ id: 1, items: Array.from({ length: 3000 }, () => item) });
    const mapping = { source_order_id: '/id', items: { list: '/items', name: '/name' } };
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => client.post(`${base}/preview`, { mapping, delivery })),
    );
    const statuses = new Set(replies.map(({ status }) => status));
    expect(statuses).toContain(200);
    expect([...statuses].filter((status) => ![200, 429].includes(status))).toEqual([]);
  });

  test('other routes take no longer bodies than before', async () => {
    const { client, base } = await holderOnce();
    expect(await client.post(base, { name: 'x'.repeat(70_000), preset: 'shopify' })).toMatchObject({ status: 413 });
  });
});

test('a rejected delivery and receipts name their source; the raw delivery is shown with the order', async () => {
  const { client, account } = await holder();
  const base = `/accounts/${account.id}`;
  const source = await createTestSource(stack, account, 'shopify');
  const body = '{"id": 1, "note": "at the door"}';
  const reply = await deliver(api, source, body, shopifyHeaders(body));
  await api.final(account, reply.body.receipt_id);
  expect((await client.get(`${base}/receipts/${reply.body.receipt_id}`)).body).toMatchObject({
    source: { name: 'my shopify', platform_id: '1' },
    source_number: source.source_number,
    payload: expect.stringContaining('delivery_instructions'),
    delivery: { payload: body },
  });
  expect((await client.get(`${base}/receipts`)).body.receipts).toMatchObject([
    { source_order_id: 'my-shopify:1', source: { name: 'my shopify', platform_id: '1' } },
  ]);
  await deliver(api, source, body, shopifyHeaders(body, 'orders/create', `${SOURCE_SECRET} no`));
  const { rejected_deliveries } = await until('it is shown', async () => {
    const { body: shown } = await client.get(`${base}/rejected-deliveries`);
    return shown.rejected_deliveries.length > 0 && shown;
  });
  expect(rejected_deliveries).toMatchObject([{ code: 'invalid_signature', source_name: 'my shopify' }]);
});
