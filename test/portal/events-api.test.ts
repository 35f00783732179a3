import { beforeEach, describe, expect, test } from '@jest/globals';
import { createEndpoint, type Endpoint } from '@orders/database/endpoints/endpoints.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { EVENT_TYPES, eventId } from '@orders/domain/events.ts';
import { until } from '@orders/test-services/until.ts';
import type { Reply } from '../harness/api.ts';
import { type EventReceiver, startEventReceiver } from '../harness/event-receiver.ts';
import { createPerson, openShop, type PortalClient, signIn, type TestPerson } from '../harness/people.ts';
import type { TestAccount } from '../harness/stack.ts';
import { listChanges } from '../harness/stored.ts';
import { useStack } from '../harness/use-stack.ts';

let receiver: EventReceiver;

const { stack, knex, db, api, portal } = useStack({
  intake: true,
  worker: true,
  notifier: true,
  portal: { CALLBACK_ALLOW: '127.0.0.1:*' },
});

beforeEach(async () => {
  receiver = await startEventReceiver();
});

interface Holder {
  account: TestAccount;
  person: TestPerson;
  client: PortalClient;
  base: string;
}

/** An account whose events are enabled. */
async function holder(): Promise<Holder> {
  const shop = await openShop(stack, portal, { signing: false });
  await setEvents(db, shop.account.id, true);
  return { ...shop, base: `${shop.base}/endpoints` };
}

const refused = (reply: Reply) => ({ status: reply.status, code: reply.body.code, errors: reply.body.errors });
const pointersOf = ({ body }: Reply) => body.errors.map(({ pointer }: { pointer: string }) => pointer);

const auditOf = ({ account }: Holder) => listChanges(knex, account.id);

/** Creates an endpoint at the receiver through the API. */
async function register({ client, base }: Holder, body: object = {}) {
  const created = await client.post(base, { url: receiver.url, ...body });
  expect(created.status).toBe(201);
  const [{ endpoint_number }] = await knex('endpoints').where({ endpoint_id: created.body.endpoint_id });
  const { endpoint_id, secret } = created.body as { endpoint_id: string; secret: string };
  return { endpoint_id, secret, path: `${base}/${endpoint_id}`, subject: `endpoint:${endpoint_number}` };
}

let orders = 0;

/** Sends orders, and waits until their events were delivered. */
async function sendOrders(account: TestAccount, count: number): Promise<void> {
  const before = receiver.received.length;
  for (let sent = 0; sent < count; sent += 1) {
    expect(await api.order(account, { source_order_id: `order-${++orders}` })).toMatchObject({ status: 202 });
  }
  await until('the events are delivered', async () => receiver.received.length >= before + count);
}

/** Waits until the endpoint has so many attempts. */
const attemptsOf = (client: PortalClient, path: string, count: number) =>
  until(`${count} attempts`, async () => {
    const { attempts } = (await client.get(`${path}/attempts`)).body;
    return attempts.length >= count && attempts;
  });

describe('the log of events', () => {
  test('is enabled and disabled by the account holder and an operator, with an audit entry for each change', async () => {
    const account = await stack.account();
    const [person, other] = [await createPerson(stack, account.id), await createPerson(stack, null)];
    const [client, operator] = [await signIn(portal, person), await signIn(portal, other)];
    const path = `/accounts/${account.id}/events`;
    const empty = { first_sequence: null, last_sequence: null, unpublished: 0 };
    expect((await client.get(path)).body).toEqual({ is_enabled: false, ...empty });
    for (const repeated of [1, 2]) {
      const reply = await client.put(path, { is_enabled: true });
      expect([repeated, reply.status, reply.body]).toEqual([repeated, 200, { is_enabled: true, ...empty }]);
    }
    await api.order(account, { source_order_id: 'first' });
    await until('the event is published', async () => (await client.get(path)).body.last_sequence === 1);
    expect((await operator.put(path, { is_enabled: false })).body).toEqual({
      is_enabled: false,
      first_sequence: 1,
      last_sequence: 1,
      unpublished: 0,
    });
    const audit = await listChanges(knex, account.id);
    const subject = `account:${account.id}`;
    expect(audit).toMatchObject([
      { action: 'events_disabled', actor: other.email, subject },
      { action: 'events_enabled', actor: person.email, subject },
    ]);
    expect(audit).toHaveLength(2);
  });

  test.each([[{}], [{ is_enabled: 'true' }], [{ is_enabled: true, more: 1 }]])('refuses %j', async (body) => {
    const { account, client } = await holderOnce();
    expect(refused(await client.put(`/accounts/${account.id}/events`, body))).toMatchObject({
      status: 422,
      code: 'invalid_request',
    });
  });
});

describe('an endpoint', () => {
  test('gets a secret that is shown once and signs deliveries, and is listed with its state', async () => {
    const one = await holder();
    const { client, base, account } = one;
    const created = await client.post(base, { url: ` ${receiver.url} `, types: ['receipt.written'] });
    expect(created).toMatchObject({ status: 201, headers: { 'cache-control': 'no-store, no-transform' } });
    const { secret, ...endpoint } = created.body;
    expect(secret).toMatch(/^whsec_/);
    expect(endpoint).toEqual({
      endpoint_id: expect.stringMatching(/^ep_/),
      url: receiver.url,
      types: ['receipt.written'],
      created_at: expect.any(String),
      disabled: null,
      failing_since: null,
      waiting: 0,
      pending: 0,
      previous_until: null,
    });
    await sendOrders(account, 1);
    receiver.verify(receiver.received[0] as never, secret);
    const [attempt] = await attemptsOf(client, `${base}/${endpoint.endpoint_id}`, 1);
    expect(attempt).toEqual({
      attempt_number: expect.any(Number),
      at: expect.any(String),
      event_id: receiver.received[0]?.headers['webhook-id'],
      type: 'receipt.written',
      sequence: 1,
      attempt: 1,
      duration_ms: expect.any(Number),
      status: 204,
      error: null,
    });
    const listed = await client.get(base);
    expect(listed.body).toEqual({ endpoints: [endpoint] });
    const kept = [listed.body, attempt, await auditOf(one), (await client.get(`/accounts/${account.id}/audit`)).body];
    expect(JSON.stringify(kept) + portal.log.text()).not.toContain(secret);
  });

  test('gets another secret; during the overlap both sign', async () => {
    const one = await holder();
    const { path, secret, subject, endpoint_id } = await register(one);
    const rotated = await one.client.post(`${path}/secret`, { overlap: '1h' });
    expect(rotated).toMatchObject({
      status: 200,
      headers: { 'cache-control': 'no-store, no-transform' },
      body: { endpoint_id, secret: expect.stringMatching(/^whsec_/) },
    });
    expect(rotated.body.secret).not.toBe(secret);
    expect((Date.parse(rotated.body.previous_until) - Date.now()) / 3_600_000).toBeCloseTo(1, 1);
    await sendOrders(one.account, 1);
    for (const each of [secret, rotated.body.secret]) receiver.verify(receiver.received[0] as never, each);
    const last = await one.client.post(`${path}/secret`, { overlap: 'none' });
    expect(last.body.previous_until).toBeNull();
    await sendOrders(one.account, 1);
    receiver.verify(receiver.received[1] as never, last.body.secret);
    expect(() => receiver.verify(receiver.received[1] as never, rotated.body.secret)).toThrow();
    const details = { url: receiver.url };
    expect(await auditOf(one)).toMatchObject([
      { action: 'endpoint_rotated', subject, details: { ...details, overlap: 'none' }, actor: one.person.email },
      { action: 'endpoint_rotated', subject, details: { ...details, overlap: '1h' } },
      { action: 'endpoint_created', subject, details },
    ]);
    const kept = JSON.stringify([(await one.client.get(one.base)).body, await auditOf(one)]) + portal.log.text();
    for (const each of [secret, rotated.body.secret, last.body.secret]) expect(kept).not.toContain(each);
  });

  test('is paused, tested while paused, enabled with what it missed, and removed', async () => {
    const one = await holder();
    const { client, base } = one;
    const { path, subject, endpoint_id } = await register(one);
    for (let repeated = 0; repeated < 2; repeated += 1)
      expect((await client.post(`${path}/pause`)).body).toMatchObject({ endpoint_id, disabled: 'paused' });
    const tested = await client.post(`${path}/test`);
    expect(tested).toMatchObject({ status: 202, body: { event_id: expect.stringMatching(/^evt_/) } });
    const [attempt] = await attemptsOf(client, path, 1);
    expect(attempt).toMatchObject({ ...tested.body, type: 'endpoint.test', sequence: null, status: 204 });
    await api.order(one.account, { source_order_id: `order-${++orders}` });
    await until('the event waits', async () => (await client.get(base)).body.endpoints[0].pending === 1);
    expect(receiver.received).toHaveLength(1);
    for (let repeated = 0; repeated < 2; repeated += 1)
      expect((await client.post(`${path}/enable`)).body).toMatchObject({ endpoint_id, disabled: null });
    await until('it gets what it missed', async () => receiver.received.length === 2);
    expect(await client.delete(path)).toMatchObject({ status: 204 });
    expect(await client.delete(path)).toMatchObject({ status: 404 });
    expect((await client.get(base)).body).toEqual({ endpoints: [] });
    const common = { subject, details: { url: receiver.url }, actor: one.person.email };
    expect(await auditOf(one)).toEqual([
      { ...common, action: 'endpoint_removed' },
      { ...common, action: 'endpoint_enabled' },
      { ...common, action: 'endpoint_tested' },
      { ...common, action: 'endpoint_paused' },
      { ...common, action: 'endpoint_created' },
    ]);
  });

  test('gets one test at a time, with one entry in the activity log', async () => {
    const one = await holder();
    const { path, subject } = await register(one);
    let reply = () => {};
    receiver.respond((_received, response) => {
      reply = () => response.writeHead(204).end();
    });
    const first = await one.client.post(`${path}/test`);
    await until('the test arrives', async () => receiver.received.length === 1);
    expect((await one.client.post(`${path}/test`)).body).toEqual(first.body);
    reply();
    receiver.respond(204);
    await attemptsOf(one.client, path, 1);
    expect((await auditOf(one)).filter(({ action }) => action === 'endpoint_tested')).toMatchObject([{ subject }]);
    expect((await one.client.post(`${path}/test`)).body).not.toEqual(first.body);
  });

  test('gets one event or a range again', async () => {
    const one = await holder();
    const { client } = one;
    const { path, subject } = await register(one, { types: [...EVENT_TYPES] });
    await sendOrders(one.account, 3);
    await attemptsOf(client, path, 3);
    const sequences = () => receiver.received.map(({ event }) => event.data.sequence).join(' ');
    expect(await client.post(`${path}/resend`, { from: 2 })).toMatchObject({ status: 202, body: { events: 1 } });
    await until('one is delivered again', async () => receiver.received.length === 4);
    expect(sequences()).toBe('1 2 3 2');
    expect((await client.post(`${path}/resend`, { from: 2, to: 100 })).body).toEqual({ events: 2 });
    await until('the range is delivered again', async () => receiver.received.length === 6);
    expect(sequences()).toMatch(/^1 2 3 2 (2 3|3 2)$/);
    expect((await client.post(`${path}/resend`, { from: 4 })).body).toEqual({ events: 0 });
    const common = { action: 'events_resent', subject };
    expect((await auditOf(one)).filter(({ action }) => action === 'events_resent')).toMatchObject([
      { ...common, details: { url: receiver.url, from: 2, to: 100, events: 2 } },
      { ...common, details: { url: receiver.url, from: 2, to: 2, events: 1 } },
    ]);
    const { events } = (await client.get(`/accounts/${one.account.id}/audit`)).body;
    expect(events[0].about).toEqual({ name: receiver.url, detail: null });
  });

  test('lists its attempts by pages of 50, newest first, or those of one event', async () => {
    const { client, ...owner } = await holder();
    const { path, subject } = await register({ client, ...owner });
    const endpoint_number = Number(subject.split(':')[1]);
    const uuid = '0b9f6d0e-3a3c-4a53-8f31-0f6d9a6a2c11';
    const row = { account_id: owner.account.id, endpoint_number, event_id: uuid, type: 'receipt.written', sequence: 1 };
    const failure = { status: 500, error: 'refused_status', duration_ms: 12, at: new Date() };
    const rows = Array.from({ length: 120 }, (_, index) => ({ ...row, ...failure, attempt: index + 1 }));
    await knex('delivery_attempts').insert(rows);
    const numbers: number[] = [];
    const sizes: number[] = [];
    for (let before: number | null = 0; before !== null; ) {
      const { body }: Reply = await client.get(`${path}/attempts${before === 0 ? '' : `?before=${before}`}`);
      numbers.push(...body.attempts.map(({ attempt }: { attempt: number }) => attempt));
      sizes.push(body.attempts.length);
      expect(body.attempts[0].event_id).toBe(eventId(uuid));
      before = body.next;
    }
    expect(sizes).toEqual([50, 50, 20]);
    expect(numbers).toEqual(Array.from({ length: 120 }, (_, index) => 120 - index));
    const one = '1c3f1f5e-7a52-4a3e-9d53-5d6f6f0c2b77';
    await knex('delivery_attempts').insert([{ ...row, ...failure, event_id: one, attempt: 1 }]);
    const found = await client.get(`${path}/attempts?event_id=${eventId(one)}`);
    expect(found.body).toMatchObject({ attempts: [{ event_id: eventId(one) }], next: null });
    expect(found.body.attempts).toHaveLength(1);
    for (const id of [one, 'evt_1', `${eventId(one)}0`])
      expect(pointersOf(await client.get(`${path}/attempts?event_id=${id}`))).toEqual(['/event_id']);
    for (const before of ['0', 'x', '-1'])
      expect(pointersOf(await client.get(`${path}/attempts?before=${before}`))).toEqual(['/before']);
  });

  test('needs events, and there are at most ten', async () => {
    const account = await stack.account();
    const client = await signIn(portal, await createPerson(stack, account.id));
    const base = `/accounts/${account.id}/endpoints`;
    expect(refused(await client.post(base, { url: receiver.url }))).toMatchObject({
      status: 409,
      code: 'events_disabled',
    });
    await client.put(`/accounts/${account.id}/events`, { is_enabled: true });
    const replies = await Promise.all(Array.from({ length: 12 }, () => client.post(base, { url: receiver.url })));
    const codes = replies.map(({ status, body }) => body.code ?? status).toSorted();
    expect(codes).toEqual([...Array(10).fill(201), 'too_many_endpoints', 'too_many_endpoints']);
    expect((await client.get(base)).body.endpoints).toHaveLength(10);
  });

  test('of another account is not found, and no route answers without a session', async () => {
    const [one, theirs] = [await holder(), await holder()];
    const { endpoint_id } = await register(theirs);
    type Ask = (client: PortalClient, base: string, id: string) => Promise<Reply>;
    const routes: Ask[] = [
      (client, at, id) => client.post(`${at}/${id}/secret`, { overlap: 'none' }),
      (client, at, id) => client.post(`${at}/${id}/pause`),
      (client, at, id) => client.post(`${at}/${id}/enable`),
      (client, at, id) => client.post(`${at}/${id}/test`),
      (client, at, id) => client.post(`${at}/${id}/resend`, { from: 1 }),
      (client, at, id) => client.get(`${at}/${id}/attempts`),
      (client, at, id) => client.delete(`${at}/${id}`),
    ];
    for (const ask of routes) {
      const replies: Reply[] = [];
      for (const id of [endpoint_id, 'ep_000000000000000000000000', '1', '%00', 'x'.repeat(200)])
        replies.push(await ask(one.client, one.base, id));
      const same = replies.map(({ status, body }) => ({ status, ...body, request_id: null, instance: null }));
      expect(same[0]).toMatchObject({ status: 404, code: 'endpoint_not_found' });
      for (const each of same) expect(each).toEqual(same[0]);
    }
    const log = `/accounts/${theirs.account.id}/events`;
    const all: Ask[] = [
      ...routes,
      (client, at) => client.get(at),
      (client, at) => client.post(at, { url: receiver.url }),
      (client) => client.get(log),
      (client) => client.put(log, { is_enabled: false }),
    ];
    for (const ask of all)
      expect(refused(await ask(one.client, theirs.base, endpoint_id))).toMatchObject({
        status: 404,
        code: 'account_not_found',
      });
    await one.client.delete('/session');
    for (const ask of all)
      expect(refused(await ask(one.client, theirs.base, endpoint_id))).toMatchObject({
        status: 401,
        code: 'not_signed_in',
      });
    expect((await theirs.client.get(theirs.base)).body.endpoints).toMatchObject([{ endpoint_id, disabled: null }]);
    expect(await auditOf(theirs)).toHaveLength(1);
  });

  test('is managed by an operator as well', async () => {
    const one = await holder();
    const operator = await signIn(portal, await createPerson(stack, null));
    const { path } = await register({ ...one, client: operator });
    for (const action of ['pause', 'enable', 'test'])
      expect((await operator.post(`${path}/${action}`)).status).toBeLessThan(300);
    expect(await operator.delete(path)).toMatchObject({ status: 204 });
  });
});

let once: Promise<Holder> | undefined;
function holderOnce(): Promise<Holder> {
  once ??= holder();
  return once;
}

describe('a request is refused', () => {
  const https = 'https://hooks.example.com/orders';

  test.each<[pointer: string, code: string, body: object]>([
    ['/url', 'any_required', {}],
    ['/url', 'string_base', { url: 1 }],
    ['/url', 'string_empty', { url: ' ' }],
    ['/url', 'malformed', { url: 'hooks.example.com' }],
    ['/url', 'malformed', { url: `https://example.com/${'x'.repeat(2000)}` }],
    ['/url', 'scheme', { url: 'http://hooks.example.com/' }],
    ['/url', 'scheme', { url: 'ftp://127.0.0.1/' }],
    ['/url', 'credentials', { url: 'https://user:password@example.com/' }],
    ['/url', 'fragment', { url: 'https://example.com/#part' }],
    ['/url', 'port', { url: 'https://example.com:22/' }],
    ['/url', 'host', { url: 'https://localhost/' }],
    ['/types', 'array_min', { url: https, types: [] }],
    ['/types', 'array_base', { url: https, types: 'order.confirmed' }],
    ['/types/1', 'any_only', { url: https, types: ['order.confirmed', 'order.lost'] }],
    ['/types/1', 'array_unique', { url: https, types: ['order.confirmed', 'order.confirmed'] }],
    ['/secret', 'object_unknown', { url: https, secret: 'whsec_own' }],
  ])('with the pointer %s and the code %s for an endpoint', async (pointer, code, body) => {
    const { client, base } = await holderOnce();
    const reply = await client.post(base, body);
    expect(refused(reply)).toMatchObject({ status: 422, code: 'invalid_request' });
    expect(reply.body.errors).toContainEqual({ pointer, code, detail: expect.any(String) });
    expect((await client.get(base)).body.endpoints).toEqual([]);
  });

  test.each<[pointer: string, path: string, body: object]>([
    ['/from', 'resend', {}],
    ['/from', 'resend', { from: 0 }],
    ['/from', 'resend', { from: 1.5 }],
    ['/from', 'resend', { from: 1e300 }],
    ['/to', 'resend', { from: 3, to: 2 }],
    ['/to', 'resend', { from: 3, to: 1e300 }],
    ['/overlap', 'secret', {}],
    ['/overlap', 'secret', { overlap: '2h' }],
  ])('with the pointer %s by %s for %j', async (pointer, path, body) => {
    const one = await holder();
    const values = { accountId: one.account.id, url: receiver.url, types: null };
    const { endpoint_id }: Endpoint = await createEndpoint(db, stack.secretsKey, values);
    const reply = await one.client.post(`${one.base}/${endpoint_id}/${path}`, body);
    expect(refused(reply)).toMatchObject({ status: 422, code: 'invalid_request' });
    expect(pointersOf(reply)).toContain(pointer);
    expect(await auditOf(one)).toEqual([]);
  });
});
