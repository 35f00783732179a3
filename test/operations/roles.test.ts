import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setGuarded } from '@orders/cli/move/close-account.ts';
import { pruneEvents, setEvents } from '@orders/database/events/event-logs.ts';
import { createPartitions } from '@orders/database/partitions/create-partitions.ts';
import { PUBLISH_LOCK } from '@orders/database/run.ts';
import { setMapping } from '@orders/database/sources/change-sources.ts';
import { ensureDatabase } from '@orders/test-services/databases.ts';
import { connectionOf, openKnex } from '@orders/test-services/open-knex.ts';
import { until } from '@orders/test-services/until.ts';
import { dropOldPartitions } from '@orders/worker/maintenance/drop-partitions.ts';
import type { Knex } from 'knex';
import type { Reply } from '../harness/api.ts';
import { hold } from '../harness/barriers.ts';
import { closeAfterTest } from '../harness/close-at-end.ts';
import { poisonOrders, stopPoisoning } from '../harness/damage-body.ts';
import type { RoleOf } from '../harness/database.ts';
import { startEventReceiver } from '../harness/event-receiver.ts';
import { type FaultyPostgres, startFaultyPostgres } from '../harness/faulty-postgres.ts';
import { createPerson, signIn } from '../harness/people.ts';
import { gaugeOf, readMetrics } from '../harness/read-metrics.ts';
import { runCommand } from '../harness/run-command.ts';
import { createTestSource, deliver, shopifyHeaders } from '../harness/sources.ts';
import { type Stack, startStack, untilQueueIs } from '../harness/stack.ts';

const APPS = ['intake', 'worker', 'portal', 'notifier'] as const;
const PASSWORDS = {
  INTAKE_DB_PASSWORD: "intake's-own-pass/word",
  WORKER_DB_PASSWORD: 'worker:own@password',
  PORTAL_DB_PASSWORD: 'portal%own?password',
  NOTIFIER_DB_PASSWORD: 'notifier#own&password',
};
/** The portal routes of an account's pages. */
const PAGES = [
  '/orders',
  '/orders/updates?after=0',
  '/orders/ids',
  '/receipts',
  '/overview',
  '/overview/review',
  '/views',
  '/rejected-deliveries',
  '/audit',
  '/keys',
  '/signing',
  '/events',
  '/endpoints',
];
const DAY = 24 * 3600 * 1000;

/** A separate server, because roles belong to all databases of a server. */
let server: FaultyPostgres;
let stack: Stack;
let owner: Knex;

/** A role that owns one database and may create roles, like that of a managed Postgres. */
const OWNER = { username: 'manager', password: 'managed' };
const urlAs = (role: { username: string; password: string }, database: string) =>
  Object.assign(new URL(server.directUrl), {
    username: role.username,
    password: encodeURIComponent(role.password),
    pathname: `/${database}`,
  }).href;
const urlOf = (app: RoleOf, database: string) =>
  urlAs(
    { username: `orders_${app}`, password: PASSWORDS[`${app.toUpperCase()}_DB_PASSWORD` as 'INTAKE_DB_PASSWORD'] },
    database,
  );

/** Connects with the role of an app, until the end of the test. */
function openAs(app: RoleOf, database: string): Knex {
  const knex = openKnex({ url: urlOf(app, database), applicationName: 'orders test' });
  closeAfterTest({ close: () => knex.destroy() });
  return knex;
}

async function migrate(
  DATABASE_URL: string,
  env: Record<string, string> = {},
): Promise<{ code: number; text: string }> {
  const { code, stdout, stderr } = await runCommand(['migrate', '--json'], { DATABASE_URL, ...env });
  return { code, text: stdout + stderr };
}

const EVENTS_OF_STORY = [
  ...['receipt.written', 'receipt.duplicate', 'receipt.dead'],
  ...['order.edited', 'order.cancelled', 'order.cancel_requested'],
];

/** `success`, or the status and code of a problem. */
const statusOf = ({ status, body }: Reply) => (status < 300 ? 'success' : `${status} ${body.code}`);

/** The grants of all roles on tables and columns, the owners and the members. */
async function grants(knex: Knex): Promise<unknown> {
  const { rows } = await knex.raw(`
    select relname, relowner::regrole::text as owner, relacl::text as acl,
           array(select attname || attacl::text from pg_attribute where attrelid = c.oid and attacl is not null order by 1) as columns
    from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'S') order by 1`);
  return rows;
}

beforeAll(async () => {
  // Without a pooler, because it would not know these roles.
  server = await startFaultyPostgres([], { direct: true });
  await server.knex.raw(`create role ${OWNER.username} login createrole password '${OWNER.password}'`);
  await ensureDatabase(urlAs({ username: 'orders', password: 'test' }, 'managed'));
  await server.knex.raw('alter database managed owner to manager');
  const url = urlAs(OWNER, 'managed');
  expect(await migrate(url, { ...PASSWORDS, QUEUE_URL: url })).toEqual({
    code: 0,
    text: expect.stringContaining('"roles": "granted"'),
  });
  owner = openKnex({ url, applicationName: 'orders test' });
  // The roles need privileges on a queue on Postgres.
  stack = await startStack('postgres', {
    database: {
      url,
      directUrl: url,
      urlOf: (app) => urlOf(app, 'managed'),
      knex: owner,
      db: connectionOf(owner),
      close: () => owner.destroy(),
    },
  });
  stack.env.PG_PREPARED = 'on';
});

test('with a role for each app and an owner without superuser rights the acceptance story passes', async () => {
  const intake = await stack.intake();
  const worker = await stack.worker({ RETRY_ATTEMPTS: '1' });
  const portal = await stack.portal({ INTAKE_URL: intake.api.url, CALLBACK_ALLOW: '127.0.0.1:*' });
  const notifier = await stack.notifier();
  for (const { adminUrl } of [intake, worker, portal, notifier])
    await until('it is ready', async () => (await fetch(`${adminUrl}/health/ready`)).ok);
  await untilQueueIs('ok', intake);

  const receiver = await startEventReceiver();
  const account = await stack.account({ signing: true });
  await setEvents(connectionOf(owner), account.id, true);
  const { api } = intake;
  const wait = { Prefer: 'wait=20' };
  const written = await api.order(account, { source_order_id: 'a', total: 5 }, { ...wait, 'Idempotency-Key': 'k' });
  expect(written.body).toMatchObject({ status: 'written' });
  const again = await api.order(account, { source_order_id: 'a', total: 5 }, { 'Idempotency-Key': 'k' });
  expect(again.body).toMatchObject({ receipt_id: written.body.receipt_id, duplicate: true });
  const changed = await api.webhook(account, { source_order_id: 'a', total: 6 }, wait);
  expect((await api.status(account, changed.body.receipt_id)).body).toMatchObject({
    status: 'duplicate',
    changes: [expect.objectContaining({ pointer: '/total' })],
  });
  expect((await api.batch(account, [{ source_order_id: 'b' }, { source_order_id: 'c' }])).status).toBe(202);
  expect((await api.preview(account, { source_order_id: 'd' })).status).toBe(200);
  expect((await api.reconcile(account, ['a', 'nowhere'])).status).toBe(200);
  expect((await api.status(account, written.body.receipt_id)).body).toMatchObject({ status: 'written' });
  expect((await api.order(account, { source_order_id: '' })).status).toBe(422);

  const client = await signIn(portal, await createPerson(stack, account.id));
  const at = `/accounts/${account.id}`;
  const orderId = written.body.order_id;
  const key = await client.post(`${at}/keys`, { name: 'till' });
  const order_ids = [orderId];
  const changes = [
    ['post', `/orders/${orderId}/resends/${changed.body.receipt_id}`, { decision: 'accepted' }],
    ['patch', `/orders/${orderId}`, { edits: { '/area': 'Marina' } }],
    ['put', `/orders/${orderId}/snooze`, { minutes: 10 }],
    ['put', `/orders/${orderId}/snooze`, { minutes: 60 }],
    ['delete', `/orders/${orderId}/snooze`],
    ['post', `/orders/${orderId}/prints`],
    ['post', `/orders/${orderId}/prints`],
    ['post', '/orders/review', { order_ids, to: 'confirmed' }],
    ['post', '/orders/review/undo', { order_ids }],
    ['post', `/keys/${key.body.key_id}/replace`, { grace: '1h' }],
    ['post', `/keys/${key.body.key_id}/revoke`],
    ['post', '/signing/rotate', { overlap: '1h' }],
    ['post', '/signing/reveal'],
    ['put', '/resends', { resends: 'hold' }],
    ['put', '/review-target', { minutes: 60 }],
    ['post', '/orders/next', {}],
    ['post', '/test-account'],
    ['post', '/test-orders'],
    ['post', '/uploads/orders', { first_position: 1, orders: ['{"source_order_id":"file-1"}'] }],
    ['post', '/uploads/outcomes', { receipt_ids: [written.body.receipt_id] }],
  ] as const;
  for (const [method, path, body] of changes)
    expect([path, statusOf(await client[method](`${at}${path}`, body as object))]).toEqual([path, 'success']);
  for (const path of PAGES) expect([path, statusOf(await client.get(`${at}${path}`))]).toEqual([path, 'success']);

  await poisonOrders(owner);
  const dead = await api.order(account, { source_order_id: 'p', order_number: 'poison' }, wait);
  expect(dead.body).toMatchObject({ status: 'dead' });
  await stopPoisoning(owner);
  const cancellations = ['p', 'c'].map((source_order_id) => ({ source_order_id }));
  const cancelled = await api.cancel(account, { cancellations });
  expect(cancelled.body.results).toMatchObject([{ outcome: 'held' }, { outcome: 'cancelled' }]);
  const redrive = `${at}/receipts/${dead.body.receipt_id}/redrive`;
  expect((await client.post(`${redrive}-preview`)).body).toMatchObject({ written: 1, failing: [] });
  expect(statusOf(await client.post(redrive))).toBe('success');
  expect((await api.final(account, dead.body.receipt_id)).body).toMatchObject({
    status: 'written',
    order_state: 'cancelled',
  });
  const source = await createTestSource(stack, account, 'shopify');
  const unmapped = await deliver(api, source, '{"key":"x"}', shopifyHeaders('{"key":"x"}'));
  const toRedrive = `${at}/receipts/${unmapped.body.receipt_id}/redrive`;
  expect(statusOf(await client.post(`${toRedrive}-preview`))).toBe('success');
  expect(statusOf(await client.post(toRedrive))).toBe('409 no_order_id');
  const setId = (source_order_id: string) =>
    setMapping(connectionOf(owner), {
      accountId: account.id,
      sourceNumber: source.source_number,
      mapping: { source_order_id },
      by: 'x',
    });
  await setId('/key');
  expect(statusOf(await client.post(toRedrive))).toBe('success');
  expect((await api.final(account, unmapped.body.receipt_id)).body).toMatchObject({ source_order_id: 'my-shopify:x' });
  const cancellingBody = '{"other":"x","cancelled_at":"2026-11-28T10:00:00Z"}';
  const cancelling = await deliver(api, source, cancellingBody, shopifyHeaders(cancellingBody, 'orders/cancelled'));
  await setId('/other');
  expect(statusOf(await client.post(`${at}/receipts/${cancelling.body.receipt_id}/redrive`))).toBe('success');
  expect((await api.status(account, unmapped.body.receipt_id)).body).toMatchObject({ order_state: 'cancelled' });

  const dispatched = { order_id: orderId, review_state: 'needs_review' };
  await owner('orders')
    .where(dispatched)
    .update({ review_state: 'confirmed', reviewed_at: new Date(0) });
  expect((await api.cancel(account, { source_order_id: 'a' })).body).toMatchObject({ outcome: 'requested' });
  // Redrives that were only tried out have no events.
  const types = await until('there is an event for each order, and the last one', async () => {
    const { body } = await api.events(account, 'limit=1000');
    const types: string[] = body.events.map(({ type }: { type: string }) => type);
    const written = types.filter((type) => type === 'receipt.written').length;
    const orders = await owner('orders').where({ account_id: account.id });
    return types.includes('order.cancel_requested') && written === orders.length && types;
  });
  expect(new Set(types)).toEqual(new Set(EVENTS_OF_STORY));

  const created = await client.post(`${at}/endpoints`, { url: receiver.url });
  expect(statusOf(created)).toBe('success');
  const endpoint = `${at}/endpoints/${created.body.endpoint_id}`;
  const received = (count: number) => until(`${count} deliveries`, async () => receiver.received.length >= count);
  expect(statusOf(await client.post(`${endpoint}/test`))).toBe('success');
  await received(1);
  receiver.respond(500);
  expect(statusOf(await client.post(`${endpoint}/resend`, { from: 1, to: 2 }))).toBe('success');
  await received(2);
  receiver.respond(204);
  for (const path of ['pause', 'enable']) expect(statusOf(await client.post(`${endpoint}/${path}`))).toBe('success');
  await received(4);
  expect(statusOf(await client.post(`${endpoint}/secret`, { overlap: '1h' }))).toBe('success');
  expect(statusOf(await client.get(`${endpoint}/attempts`))).toBe('success');
  expect(statusOf(await client.delete(endpoint))).toBe('success');

  const operator = await signIn(portal, await createPerson(stack, null));
  expect(statusOf(await operator.post('/operator/accounts', { name: 'Another' }))).toBe('success');
  for (const path of ['/operator/accounts', '/operator/users', '/operator/service', '/operator/dead'])
    expect([path, statusOf(await operator.get(path))]).toEqual([path, 'success']);

  await until('all audit events are chained', async () => (await owner('unchained_audit_events')).length === 0);
  const verified = await runCommand(['audit', 'verify'], { DATABASE_URL: urlAs(OWNER, 'managed') });
  expect(verified.code).toBe(0);
  // An id cannot be used twice, although a role that may insert can choose it.
  const asPortal = openAs('portal', 'managed');
  const copied = 'event_id, account_id, at, actor, action, subject, details';
  const copy = `insert into audit_events (${copied}) overriding system value select ${copied} from audit_events limit 1`;
  await expect(asPortal.raw(copy)).rejects.toMatchObject({ code: '23505' });

  const metrics = await until('the load is known', async () => {
    const text = await (await fetch(`${intake.adminUrl}/metrics`)).text();
    return text.includes('\norders_receipts_waiting ') && text;
  });
  expect(metrics).toMatch(/^orders_receipts_dead 0$/m);
  for (const { log } of [intake, worker, portal, notifier]) expect(log.text()).not.toContain('42501');
  await worker.close();
  await intake.close();
  await portal.close();
  await notifier.close();
  await receiver.close();
});

test('intake shows the delay of dispatching under its role, and after a grant the ages of transactions', async () => {
  const intake = await stack.intake();
  const worker = await stack.worker();
  const order = await intake.api.process(await stack.account(), { source_order_id: 'held up' });
  const held = await hold(owner, `select pg_advisory_xact_lock(${PUBLISH_LOCK}), pg_current_xact_id()`);
  await owner.raw(
    `insert into undispatched_orders (account_id, order_id, due_at)
     select account_id, order_id, now() - interval '1 h' from orders where order_id = ?`,
    [order.order_id],
  );
  const AGES = 'postgres_oldest_transaction_seconds';
  const withDelay = await until('the delay is shown', async () => {
    const metrics = await readMetrics(intake.adminUrl);
    return (gaugeOf(metrics, 'orders_dispatch_delay_seconds') ?? 0) > 0 && metrics;
  });
  expect(withDelay.get(AGES)?.samples).toEqual([]);

  await server.knex.raw('grant pg_read_all_stats to orders_intake');
  const samples = await until('the ages are shown', async () => {
    const samples = (await readMetrics(intake.adminUrl)).get(AGES)?.samples ?? [];
    return samples.length > 0 && samples;
  });
  expect(samples.map(({ labels }) => labels.kind).toSorted()).toEqual(['reading', 'writing']);
  expect(samples.find(({ labels }) => labels.kind === 'writing')?.value).toBeGreaterThan(0);
  await server.knex.raw('revoke pg_read_all_stats from orders_intake');
  await held.release();
  await worker.close();
  await intake.close();
});

test('the worker removes events of every account, under its role', async () => {
  const worker = openAs('worker', 'managed');
  const stored = await owner('events').count({ count: '*' }).first();
  expect(Number(stored?.count)).toBeGreaterThan(0);
  expect(await pruneEvents(connectionOf(worker), 0, new AbortController().signal)).toBe(Number(stored?.count));
});

test('the worker creates and drops partitions, including those of the owner, and the owner can still alter them', async () => {
  const worker = openAs('worker', 'managed');
  const made = await createPartitions(connectionOf(worker), Date.now() + 100 * DAY);
  expect(made.length).toBeGreaterThan(0);
  const old = await createPartitions(connectionOf(owner), Date.now() - 400 * DAY);
  expect((await migrate(urlAs(OWNER, 'managed'))).code).toBe(0);
  const { rows } = await owner.raw(
    "select distinct tableowner as owner from pg_tables where tablename ~ '^receipt(s|_payloads)(_|$)'",
  );
  expect(rows).toEqual([{ owner: 'orders_worker' }]);
  const { dropped } = await dropOldPartitions(connectionOf(worker), 200 * DAY);
  expect(new Set(dropped)).toEqual(new Set(old));
  for (const name of ['receipts', ...made])
    await owner.raw(`alter table ${name} set (autovacuum_enabled = on)`).catch((error) => {
      // Only partitions have storage settings.
      expect([name, error.code]).toEqual(['receipts', '42809']);
    });
});

test('the worker makes partitions of receipts while an account is moved, whose receipts are rejected', async () => {
  const { id } = await stack.account();
  const worker = openAs('worker', 'managed');
  const database = connectionOf(owner);
  const move = { account_id: id, account_ids: [id], to_url: 'https://orders-2.example.com', step: 'closed' };
  await owner('account_moves').insert(move);
  await setGuarded(database, id, true);
  expect(await createPartitions(connectionOf(worker), Date.now() + 200 * DAY)).not.toEqual([]);
  const late = worker('order_keys').insert({ account_id: id, source_order_id: 'late', held_at: new Date() });
  await expect(late).rejects.toMatchObject({ code: '55006' });
  await setGuarded(database, id, false);
  await owner('account_moves').where({ account_id: id }).delete();
});

test('no role can run a function that acts with the rights of the owner for triggers alone', async () => {
  const { rows } = await stack.database.knex.raw(`
    select p.proname as name from pg_proc p, unnest(array['orders_intake', 'orders_worker', 'orders_portal', 'orders_notifier']) role
    where p.pronamespace = 'public'::regnamespace and p.prosecdef and p.prorettype = 'trigger'::regtype
      and has_function_privilege(role, p.oid, 'execute')`);
  expect(rows).toEqual([]);
});

describe('a role is not allowed', () => {
  const REFUSED: Record<RoleOf, string[]> = {
    intake: [
      'select customer_phone from orders',
      'select * from orders',
      "update orders set review_state = 'confirmed'",
      'insert into orders (account_id) values (1)',
      'delete from receipts',
      "update receipts set state = 'dead'",
      'update receipt_payloads set bodies = bodies',
      'delete from outbox',
      'update api_keys set revoked_at = null',
      'update signing_secrets set expires_at = null',
      "insert into api_keys (account_id, name, key_hash, last_four) values (1, 'x', '', 'x')",
      'update accounts set suspended_at = null',
      'select * from users',
      'select * from memberships',
      'select token from user_sessions',
      'select password from user_credentials',
      'select * from audit_events',
      'select * from rejected_deliveries',
      'select * from dispatchable_orders',
      "select nextval('order_ids')",
      'select reason from cancellation_requests',
      'select details from unpublished_events',
      "insert into unpublished_events (account_id, type, receipt_id, source_order_id) values (1, 'x', gen_random_uuid(), 'x')",
      'delete from events',
      'update event_logs set is_enabled = true',
      'delete from cancellation_requests',
      "select take_held_cancellation(1, 'x')",
      'select chain_audit_events(1)',
      'update sources set mapping = mapping',
      'select * from source_mappings',
      "select map_unmapped_receipt(1, gen_random_uuid(), 'x', '', gen_random_uuid(), 'order')",
    ],
    worker: [
      'select * from api_keys',
      'select * from signing_secrets',
      'select * from users',
      'select * from memberships',
      'select * from operator_changes',
      'select token from user_sessions',
      'update user_sessions set expires_at = now()',
      'select password from user_credentials',
      'select token_hash from invitations',
      'select * from audit_events',
      "update orders set review_state = 'confirmed'",
      'delete from orders',
      'update accounts set suspended_at = null',
      "insert into idempotency_keys values (1, 'x', gen_random_uuid())",
      "select cancel_orders(1, 1, null, '{x}', '{x}')",
      'select * from cancellation_requests',
      'update event_logs set is_enabled = true',
      'insert into event_logs (account_id, is_enabled) values (1, true)',
      'update events set details = details',
      'update unpublished_events set due_at = due_at',
      'select * from dispatchable_orders',
      'select * from sources',
      'select receipt_ids from source_activity',
    ],
    portal: [
      'select chain_audit_events(1)',
      'update memberships set account_id = 1',
      'update operator_changes set requested_by = requested_by',
      'delete from orders',
      'update orders set erased_at = now()',
      'update orders set account_id = 1',
      'delete from receipts',
      'update receipts set source_order_id = null',
      'update receipt_payloads set bodies = bodies',
      'delete from receipt_payloads',
      'select * from idempotency_keys',
      'delete from accounts',
      'delete from api_keys',
      'update api_keys set key_hash = null',
      'update signing_secrets set sealed = null',
      'update activity_clock set as_of = null',
      'delete from sources',
      'update sources set account_id = 1',
      'update source_mappings set mapping = mapping',
      'update source_activity set count = 0',
      'update event_logs set last_sequence = 0',
      'delete from events',
      'update events set details = details',
      'delete from unpublished_events',
      'delete from cancellation_requests',
      'update cancellation_requests set reason = null',
      'update endpoints set delivered_to = 0',
      'update delivery_attempts set error = null',
    ],
    notifier: [
      'select chain_audit_events(1)',
      'select * from accounts',
      'select * from orders',
      'select * from receipts',
      'select * from receipt_payloads',
      'select * from api_keys',
      'select * from signing_secrets',
      'select * from sources',
      'select * from users',
      'select * from memberships',
      'select * from audit_events',
      'select * from unpublished_events',
      'select * from delivery_attempts',
      'update events set details = details',
      'delete from events',
      'update event_logs set last_sequence = 0',
      "update endpoints set url = 'https://intruder.example/'",
      'update endpoints set sealed = sealed',
      'delete from endpoints',
      'select * from dispatchable_orders',
    ],
  };
  const OF_ALL = [
    'create role intruder',
    'create table intruder (id int)',
    'drop table orders',
    'alter table orders disable trigger all',
    'update audit_events set details = null',
    'delete from audit_events',
    'truncate audit_events',
    'alter table audit_events disable trigger queue_audit_events',
    'select salt from audit_chain',
    'update audit_chain set hash = hash',
    'delete from audit_chain',
    'truncate audit_chain',
    "insert into audit_chain values (1, 1, '', '')",
    'delete from unchained_audit_events',
    'insert into unchained_audit_events values (1)',
    'select from audit_chain_lock for update',
    'delete from audit_chain_lock',
    'truncate outbox',
    "insert into schema_migrations (name) values ('x')",
    'set role manager',
    'set session_replication_role = replica',
    "copy (select 1) to program 'true'",
    "select pg_read_file('/etc/passwd')",
    'select * from pg_authid',
    'create view v as select 1',
    'create function f() returns int language sql as $$select 1$$',
  ];
  // The worker creates partitions.
  const MAY_CREATE = /^create (table|view|function)/;
  const statements = APPS.flatMap((app) =>
    [...REFUSED[app], ...OF_ALL.filter((sql) => app !== 'worker' || !MAY_CREATE.test(sql))].map((sql) => ({
      app,
      sql,
    })),
  );
  const connections: Partial<Record<RoleOf, Knex>> = {};
  beforeAll(() => {
    for (const app of APPS) connections[app] = openKnex({ url: urlOf(app, 'managed'), applicationName: 'orders test' });
  });
  afterAll(() => Promise.all(APPS.map((app) => connections[app]?.destroy())));

  test.each(statements)('$app: $sql', async ({ app, sql }) => {
    const refused = await connections[app]?.raw(sql).then(
      () => null,
      (error) => error.code,
    );
    expect(refused).toBe('42501');
  });
});

test('another migration changes nothing, revokes extra grants and restores revoked ones', async () => {
  const url = urlAs(OWNER, 'managed');
  const before = await grants(owner);
  expect(await migrate(url)).toEqual({ code: 0, text: expect.stringContaining('"roles": "granted"') });
  expect(await grants(owner)).toEqual(before);
  await owner.raw('grant select on audit_events to orders_intake');
  await owner.raw('grant update (key_hash) on api_keys to orders_portal');
  await owner.raw('revoke select on orders from orders_portal');
  expect(await grants(owner)).not.toEqual(before);
  expect((await migrate(url)).code).toBe(0);
  expect(await grants(owner)).toEqual(before);
});

test('a database whose apps shared a superuser gets the roles only by an upgrade with passwords', async () => {
  // The default database of the server, migrated by its superuser. The roles exist already for the other database.
  const { url, knex } = server;
  const before = await grants(knex);
  expect(await migrate(url)).toEqual({ code: 0, text: expect.stringContaining('"roles": "none"') });
  expect(await grants(knex)).toEqual(before);
  expect(await migrate(url, PASSWORDS)).toEqual({ code: 0, text: expect.stringContaining('"roles": "granted"') });
  const worker = openAs('worker', 'orders');
  await createPartitions(connectionOf(knex), Date.now() - 400 * DAY);
  expect((await migrate(url)).code).toBe(0);
  expect((await dropOldPartitions(connectionOf(worker), 200 * DAY)).dropped).not.toEqual([]);
});

test('a queue on Postgres that is not prepared is reported, and used as soon as it is', async () => {
  await ensureDatabase(urlAs({ username: 'orders', password: 'test' }, 'unprepared'));
  await server.knex.raw('alter database unprepared owner to manager');
  const url = urlAs(OWNER, 'unprepared');
  expect((await migrate(url, PASSWORDS)).code).toBe(0);
  const knex = openKnex({ url, applicationName: 'orders test' });
  const database = {
    url,
    directUrl: url,
    urlOf: (app: RoleOf) => urlOf(app, 'unprepared'),
    knex,
    db: connectionOf(knex),
  };
  const unprepared = await startStack('postgres', { database: { ...database, close: () => knex.destroy() } });
  try {
    const [intake, worker] = [await unprepared.intake(), await unprepared.worker()];
    const queue = 'not prepared: run orders migrate with QUEUE_URL';
    await untilQueueIs(queue, intake);
    await until('the worker says so', async () => worker.log.lines.some((line) => line.queue === queue));
    const account = await unprepared.account();
    const { receipt_id } = (await intake.api.order(account, { source_order_id: 'early' })).body;
    expect((await migrate(url, { QUEUE_URL: url })).code).toBe(0);
    expect((await intake.api.final(account, receipt_id)).body.status).toBe('written');
    // The sweeper may have written it before either reached the queue.
    await untilQueueIs('ok', intake);
    await until('the worker is ready', async () => worker.log.lines.some(({ message }) => message === 'worker ready'));
  } finally {
    await unprepared.close();
  }
});
