import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { DELIVERY_OUTCOMES } from '@orders/database/sources/activity.ts';
import { PORTAL_PROBLEMS } from '@orders/domain/portal-problems.ts';
import { PROBLEMS } from '@orders/domain/problems.ts';
import { SOURCE_PRESETS } from '@orders/domain/sources/settings.ts';
import { poisonOrders } from '../harness/damage-body.ts';
import { createPerson, openPortalClient } from '../harness/people.ts';
import { documentedMetrics, type Metric, readMetrics, type Sample } from '../harness/read-metrics.ts';
import type { TestAccount } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, intake, worker, notifier, portal } = useStack({
  intake: true,
  // Attempts that end by time would be counted too.
  worker: { RETRY_ATTEMPTS: '2' },
  notifier: true,
  portal: true,
});

beforeAll(async () => {
  await poisonOrders(knex);
});

/** Part of every value that a sender or a reviewer can choose. */
const MARK = 'chosen7319';

/** Orders with every outcome, rejections and unknown paths, from a new account or this one. */
async function traffic(of?: TestAccount): Promise<{ account: TestAccount; chosen: string[] }> {
  const account = of ?? (await stack.account({ signing: true }));
  const [key, name] = [randomUUID(), `${MARK}-${randomUUID()}`];
  const first = await intake.api.order(account, { source_order_id: name }, { 'Idempotency-Key': key });
  await intake.api.final(account, first.body.receipt_id);
  const replies = [
    first,
    await intake.api.order(account, { source_order_id: name, total: 1 }, { 'Idempotency-Key': key }),
    await intake.api.webhook(account, { source_order_id: name }),
    await intake.api.order(account, { source_order_id: `${name}-dead`, order_number: `poison ${MARK}` }),
  ];
  // The second delivery gets the first receipt and is kept under its own.
  const finals = replies.map(({ body }) => intake.api.final(account, body.kept_as ?? body.receipt_id));
  const states = (await Promise.all(finals)).map(({ body }) => body.status);
  expect(states).toEqual(['written', 'duplicate', 'duplicate', 'dead']);

  await intake.api.cancel(account, { source_order_id: name, reason: MARK });
  await intake.api.order(account, `{"${MARK}`);
  await intake.api.order(account, { source_order_id: 7 });
  await intake.api.batch(account, Buffer.from(`{"${MARK}`));
  await intake.api.order({ ...account, key: `oik_${MARK}` }, { source_order_id: name });
  await intake.api.webhook(account, { source_order_id: name }, { 'x-service-signature': MARK });
  await intake.api.preview(account, { source_order_id: name });
  await intake.api.status(account, randomUUID());
  for (const path of [
    `/${MARK}/${randomUUID()}`,
    `/ingest/orders/${MARK}`,
    `/%ff${MARK}`,
    `/ingest/status/${MARK}?${MARK}`,
  ]) {
    await fetch(`${intake.api.url}${path}`, { method: 'PURGE' });
    await fetch(`${intake.api.url}${path}`);
  }

  const client = openPortalClient(portal);
  const person = await createPerson(stack, account.id);
  await client.post('/session', { email: `${MARK}@example.test`, password: MARK });
  await client.post('/session', { email: person.email, password: person.password });
  await client.get(`/accounts/${account.id}/orders/${MARK}`);
  await client.get(`/accounts/${account.id}/receipts`);
  await client.get(`/accounts/${account.id}/receipts/${replies[0]?.body.receipt_id}`);
  await client.get(`/accounts/4711/orders`);
  await client.get(`/${MARK}`);
  await fetch(`${portal.url}/${MARK}/${randomUUID()}`);
  await fetch(`${portal.url}/accounts/${account.id}/orders`);
  return {
    account,
    chosen: [
      MARK,
      key,
      account.key,
      account.secret as string,
      person.email,
      ...replies.map(({ body }) => body.receipt_id),
    ],
  };
}

const allMetrics = () => Promise.all([intake, worker, portal, notifier].map(({ adminUrl }) => readMetrics(adminUrl)));
const samplesOf = (shown: Map<string, Metric>[]) =>
  shown.flatMap((metrics) => [...metrics.values()].flatMap(({ samples }) => samples));

test('no label contains a value chosen by a client, and other senders and paths create no new series', async () => {
  const first = await traffic();
  const before = await allMetrics();
  const second = await traffic();
  const after = await allMetrics();
  const samples = samplesOf(after);
  const values = [...new Set(samples.flatMap(({ labels }) => Object.values(labels)))];
  const chosen = [...first.chosen, ...second.chosen];
  expect(values.filter((value) => chosen.some((word) => value.includes(word)))).toEqual([]);
  expect(samples.filter((sample) => !hasKnownLabels(sample))).toEqual([]);

  const seriesOf = (shown: Map<string, Metric>[]) =>
    samplesOf(shown)
      .filter(({ name }) => !name.startsWith('nodejs_'))
      .map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`);
  expect(seriesOf(after).filter((series) => !seriesOf(before).includes(series))).toEqual([]);
  expect(samples.length).toBeLessThan(1500);
});

const CODES = new Set(['', ...Object.keys(PROBLEMS), ...Object.keys(PORTAL_PROBLEMS)]);
const OUTCOMES: ReadonlySet<string> = new Set([
  ...[
    'accepted',
    'replayed',
    'kept',
    'written',
    'duplicate',
    'failed',
    'dead',
    'cancelled',
    'requested',
    'held',
    'archived',
    'outdated',
    'delivered',
    'sent',
    'dropped',
  ],
  ...DELIVERY_OUTCOMES,
]);
const KNOWN: Record<string, (value: string) => boolean> = {
  // Patterns of the apps: words and names of parameters.
  route: (value) => value === 'none' || /^(\/|(\/:?[A-Za-z_-]+(\.json)?|\/\{?\*\w+\}?)+)$/.test(value),
  status: (value) => /^[2-5]\d\d$/.test(value),
  code: (value) => CODES.has(value),
  outcome: (value) => OUTCOMES.has(value),
  preset: (value) => (SOURCE_PRESETS as readonly string[]).includes(value),
  kept_as: (value) => ['resend', 'dead'].includes(value),
  lane: (value) => ['prompt', 'bulk'].includes(value),
  state: (value) => ['waiting', 'active', 'delayed', 'busy', 'idle'].includes(value),
  answered_by: (value) => ['replica', 'primary'].includes(value),
  step: (value) => /^[a-z]+(_[a-z]+)+$/.test(value),
  version: (value) => /^\d+\.\d+\.\d+$/.test(value),
  revision: (value) => value === 'unknown',
  pool: (value) => ['hot'].includes(value),
  reason: (value) => ['gone', 'failing'].includes(value),
  kind: (value) => ['writing', 'reading'].includes(value),
  le: (value) => value === '+Inf' || Number(value) > 0,
};

/** Default Node metrics have labels for versions and for kinds of memory and handles. */
function hasKnownLabels({ name, labels }: Sample): boolean {
  if (name.startsWith('nodejs_')) return Object.values(labels).every((value) => /^[\w.+]+$/.test(value));
  return Object.entries(labels).every(([label, value]) => KNOWN[label]?.(value));
}

/** The value of a series; 0 if there is none. */
const figure = async ({ adminUrl }: { adminUrl: string }, name: string, labels: object = {}) => {
  const samples = [...(await readMetrics(adminUrl)).values()].flatMap((metric) => metric.samples);
  const wanted = JSON.stringify(labels);
  return samples.find((sample) => sample.name === name && JSON.stringify(sample.labels) === wanted)?.value ?? 0;
};

/** What the counters of orders grew by while `send` ran. */
async function grownBy(send: () => Promise<unknown>) {
  const readFigures = async () => ({
    accepted: await figure(intake, 'intake_receipts_total', { outcome: 'accepted' }),
    replayed: await figure(intake, 'intake_receipts_total', { outcome: 'replayed' }),
    kept: await figure(intake, 'intake_receipts_total', { outcome: 'kept' }),
    mismatches: await figure(intake, 'intake_payload_mismatches_total', { kept_as: 'resend' }),
    cancelled: await figure(intake, 'intake_cancellations_total', { outcome: 'cancelled' }),
    timed: await figure(intake, 'intake_accept_seconds_count'),
    malformed: await figure(intake, 'intake_requests_total', {
      route: '/ingest/orders',
      status: '400',
      code: 'malformed_body',
    }),
    written: await figure(worker, 'worker_receipts_total', { outcome: 'written' }),
    writeTimed: await figure(worker, 'worker_written_seconds_count'),
    duplicate: await figure(worker, 'worker_receipts_total', { outcome: 'duplicate' }),
    failed: await figure(worker, 'worker_receipts_total', { outcome: 'failed' }),
    dead: await figure(worker, 'worker_receipts_total', { outcome: 'dead' }),
  });
  const before = await readFigures();
  await send();
  const after = await readFigures();
  return Object.fromEntries(Object.entries(after).map(([name, value]) => [name, value - before[name as 'dead']]));
}

test('each order is counted by its outcome', async () => {
  expect(await grownBy(() => traffic())).toEqual({
    accepted: 3,
    replayed: 1,
    kept: 1,
    mismatches: 1,
    cancelled: 1,
    timed: 4,
    malformed: 1,
    written: 1,
    writeTimed: 1,
    duplicate: 2,
    failed: 1,
    dead: 1,
  });
  expect(await figure(intake, 'postgres_pool_size', { pool: 'hot' })).toBe(10);
});

test('docs/operating/metrics.md names exactly the existing metrics', async () => {
  await traffic();
  const shown = await allMetrics();
  const found = new Map<string, { type: string; labels: Set<string>; apps: string[] }>();
  for (const [index, app] of ['intake', 'worker', 'portal', 'notifier'].entries()) {
    for (const { name, type, samples } of shown[index]?.values() ?? []) {
      const entry = found.get(name) ?? { type, labels: new Set(), apps: [] };
      for (const label of samples.flatMap(({ labels }) => Object.keys(labels))) {
        if (label !== 'le') entry.labels.add(label);
      }
      found.set(name, { ...entry, apps: [...entry.apps, app] });
    }
  }
  const isNode = (name: string) => /^(process|nodejs)_/.test(name);
  const documented = documentedMetrics();
  // The page leaves most default metrics of Node out. They depend on the system, and some have no samples at times.
  const names = new Set(documented.map(({ name }) => name));
  expect(documented.map(({ name }) => name)).toEqual([...names]);
  expect([...found.keys()].filter((name) => !names.has(name) && !isNode(name))).toEqual([]);
  const ownMetrics = documented.filter(({ name }) => !isNode(name));
  const expected = ownMetrics.map(({ name }) => {
    const { type, labels, apps } = found.get(name) ?? { type: 'none', labels: new Set<string>(), apps: [] };
    return { name, type, labels, apps };
  });
  expect(ownMetrics.map((metric) => ({ ...metric, labels: new Set(metric.labels) }))).toEqual(expected);
});

test('what an account gets wrong in test mode is not counted, so that it raises no alert', async () => {
  const tests = await stack.account({ signing: true });
  const { id } = await stack.account();
  await knex('accounts').where({ account_id: tests.id }).update({ test_of: id });
  const grown = await grownBy(async () => {
    await traffic(tests);
    const key = { 'Idempotency-Key': randomUUID() };
    const batch = (total: number) => intake.api.batch(tests, [{ source_order_id: 'in a batch', total }], key);
    await batch(1);
    expect((await batch(2)).body).toMatchObject({ mismatched: 1 });
  });
  expect(grown).toMatchObject({ accepted: 4, kept: 2, mismatches: 0, malformed: 1, failed: 0, dead: 0 });
});
