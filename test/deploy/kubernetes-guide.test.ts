import { beforeAll, expect, jest, test } from '@jest/globals';
import { openApi } from '../harness/api.ts';
import { type FaultyPostgres, startFaultyPostgres } from '../harness/faulty-postgres.ts';
import { blocksUnder, readBlocks } from '../harness/markdown-blocks.ts';
import { guide } from '../harness/pods.ts';
import { describeWith } from '../harness/programs.ts';
import { startQueue, type TestQueue } from '../harness/queue.ts';
import { type StandInCluster, startStandInCluster } from '../harness/stand-in-cluster.ts';

let postgres: FaultyPostgres;
let queue: TestQueue;
let cluster: StandInCluster;
let account: { id: number; key: string; secret: string };

// Each step replaces processes, and each process needs seconds to start on a busy machine.
jest.setTimeout(300_000);

const blocks = (heading: string) => blocksUnder(guide, heading, 'sh');
const text = (secret: string, key: string) =>
  Buffer.from(cluster.secrets.get(secret)?.data[key] ?? '', 'base64').toString();

/** Sends a webhook to intake and stores the status of its reply. */
async function sendWebhook(statuses: number[]): Promise<void> {
  const api = await openApi(cluster.intakeUrl());
  statuses.push((await api.webhook(account, { source_order_id: `webhook ${statuses.length}` })).status);
}

describeWith(
  'kubectl',
  'jq',
  'openssl',
  'curl',
  'redis-server',
)('the guide for Kubernetes, pasted', () => {
  beforeAll(async () => {
    postgres = await startFaultyPostgres([], { direct: true });
    queue = await startQueue('redis', postgres.directUrl);
    cluster = await startStandInCluster({ DRAIN_DELAY: '200ms' });
  });
  test('deploys for the first time, up to the first order', async () => {
    const [sql = ''] = readBlocks(guide).flatMap(({ language, text }) => (language === 'sql' ? [text] : []));
    // The test server already has a role and a database `orders`.
    const renamed = sql.replaceAll(/(role|owner) orders/g, '$1 manager').replace('database orders', 'database shop');
    for (const statement of renamed.replace('<owner password>', 'managed').trim().split('\n'))
      await postgres.knex.raw(statement);
    const { host } = new URL(postgres.directUrl);

    const [copy] = blocks('2. Fill in your kustomization');
    const [yours, make, show] = blocks('3. Create the namespace and the Secrets');
    const [rollOut] = blocks('6. Roll out');
    const [create, send] = blocks('7. Create the first account, key, operator and order');
    const filledIn = (yours as string)
      .replace('postgres.example.com:5432/orders?sslmode=verify-full', `${host}/shop`)
      .replace('orders:change-me', 'manager:managed')
      .replace(/^queue=\S+/m, `queue=${queue.url}`);
    const deployed = await cluster.paste(`${copy}${filledIn}${make}${show}${rollOut}`);
    expect(deployed).toMatchObject({ code: 0, stderr: '' });
    expect(deployed.stdout).toContain(text('operator', 'SECRETS_KEY'));
    expect([...cluster.secrets.keys()]).toEqual(['operator', 'intake', 'worker', 'portal', 'notifier']);

    const order = (send as string).replace('https://orders.example.com', cluster.intakeUrl());
    const { stdout } = await cluster.paste(`${create}${order}\necho; echo "account $account $api_key"`);
    expect(JSON.parse(/^\{.*"receipt_id".*\}$/m.exec(stdout)?.[0] ?? '{}')).toMatchObject({ status: 'written' });
    const [, id, key = ''] = /^account (\d+) (\S+)$/m.exec(stdout) ?? [];
    expect(stdout).toContain('https://portal.example.com/');
    const shown = await cluster.paste(`kubectl -n orders exec deploy/operator -- orders signing show ${id} --json`);
    account = { id: Number(id), key, secret: JSON.parse(shown.stdout).secrets[0].secret };
  });

  test('exchanges SECRETS_KEY without rejecting a webhook, and resumes after an interruption', async () => {
    const old = text('operator', 'SECRETS_KEY');
    const [exchange = ''] = blocks('SECRETS_KEY');
    const statuses: number[] = [];
    // As if the terminal was closed while the second step replaced pods.
    cluster.intercept = async ({ args }) => {
      await sendWebhook(statuses);
      const isStopped = args.includes('restart') && text('operator', 'SECRETS_KEY') !== old;
      return isStopped ? { code: 1, stderr: 'stopped\n' } : undefined;
    };
    const stopped = await cluster.paste(exchange);
    expect(stopped).toMatchObject({ code: 1, stderr: expect.stringContaining('2 of 4') });
    const next = text('operator', 'SECRETS_KEY');
    expect(text('operator', 'SECRETS_KEY_PREVIOUS')).toBe(old);

    cluster.intercept = async () => {
      await sendWebhook(statuses);
      return undefined;
    };
    expect(await cluster.paste(exchange)).toMatchObject({ code: 0, stderr: expect.stringContaining('4 of 4') });
    cluster.intercept = null;
    expect([statuses.length > 20, new Set(statuses)]).toEqual([true, new Set([202])]);
    for (const app of ['operator', 'intake', 'notifier', 'portal'])
      expect([text(app, 'SECRETS_KEY'), text(app, 'SECRETS_KEY_PREVIOUS')]).toEqual([next, '']);
    expect(cluster.secrets.get('operator')?.metadata.annotations).toEqual({});
    const api = await openApi(cluster.intakeUrl());
    expect((await api.webhook(account, { source_order_id: 'after the exchange' })).status).toBe(202);
  });

  test('does not start to exchange SECRETS_KEY if it cannot open a secret', async () => {
    const before = structuredClone(cluster.secrets);
    const other = Buffer.alloc(32, 1).toString('base64');
    for (const app of ['operator', 'intake', 'notifier', 'portal'])
      (cluster.secrets.get(app) as { data: Record<string, string> }).data.SECRETS_KEY =
        Buffer.from(other).toString('base64');
    await cluster.paste('kubectl -n orders rollout restart deployment/operator');
    const changed = structuredClone(cluster.secrets);
    const [exchange = ''] = blocks('SECRETS_KEY');
    const refused = await cluster.paste(exchange);
    expect([refused.code > 0, refused.stderr.includes('1 of 4'), cluster.secrets]).toEqual([true, false, changed]);
    for (const [app, secret] of before) cluster.secrets.set(app, secret);
    await cluster.paste('kubectl -n orders rollout restart deployment/operator');
  });

  test('gives the database roles of the apps new passwords, and orders are written before and after', async () => {
    const before = ['intake', 'worker', 'notifier', 'portal'].map((app) => text(app, 'DATABASE_URL'));
    const [rotate = ''] = blocks('Passwords');
    expect(await cluster.paste(rotate)).toEqual({ code: 0, stdout: '', stderr: expect.stringContaining('Done') });
    const after = ['intake', 'worker', 'notifier', 'portal'].map((app) => text(app, 'DATABASE_URL'));
    for (const url of after) expect(before).not.toContain(url);
    for (const app of ['intake', 'worker', 'notifier', 'portal'])
      expect(text('operator', `${app.toUpperCase()}_DB_PASSWORD`)).toBe(new URL(text(app, 'DATABASE_URL')).password);
    const api = await openApi(cluster.intakeUrl());
    const { status, body } = await api.order(account, { source_order_id: 'after the passwords' });
    expect(status).toBe(202);
    expect((await api.final(account, body.receipt_id)).body.status).toBe('written');
  });

  test('applies no app if the migration fails, and the rollback runs no migration', async () => {
    const [rollOut = ''] = blocks('6. Roll out');
    const [rollBack = ''] = blocks('Upgrade').slice(-1);
    const wrong = text('operator', 'DATABASE_URL').replace('managed', 'wrong');
    const right = cluster.secrets.get('operator')?.data as Record<string, string>;
    const kept = right.DATABASE_URL as string;
    right.DATABASE_URL = Buffer.from(wrong).toString('base64');
    cluster.calls.length = 0;
    expect(await cluster.paste(rollOut)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('migration failed'),
    });
    expect(cluster.calls.filter((call) => call.includes('apply'))).toHaveLength(1);
    right.DATABASE_URL = kept;
    cluster.calls.length = 0;
    expect(await cluster.paste(rollBack)).toMatchObject({ code: 0, stderr: '' });
    expect(cluster.calls[0]).toContain('component!=setup');
  });
});
