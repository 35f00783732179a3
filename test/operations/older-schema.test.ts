import { beforeAll, expect, test } from '@jest/globals';
import { migrate } from '@orders/database/migrate.ts';
import { until } from '@orders/test-services/until.ts';
import { expectSettled } from '../harness/settled.ts';
import { useStack } from '../harness/use-stack.ts';

let newest: string;

const { stack, knex, db } = useStack();

beforeAll(async () => {
  newest = (await knex('schema_migrations').orderBy('name', 'desc').first()).name;
});

const readiness = async ({ adminUrl }: { adminUrl: string }) => {
  const reply = await fetch(`${adminUrl}/health/ready`);
  return { status: reply.status, ...((await reply.json()) as { schema?: string }) };
};

const forget = (name: string) => knex('schema_migrations').where({ name }).delete();
const remember = (name: string) => knex('schema_migrations').insert({ name });

test('on a schema without its newest migration no app is ready, and each logs this in one line', async () => {
  await forget(newest);
  const [intake, worker, portal] = [await stack.intake(), await stack.worker(), await stack.portal()];
  const notifier = await stack.notifier();
  for (const app of [intake, worker, portal, notifier]) {
    expect(await readiness(app)).toMatchObject({ status: 503, ready: false, schema: 'behind: run orders migrate' });
    await until('it is logged', async () => app.log.lines.some(({ schema }) => schema));
    expect(app.log.lines.filter(({ schema }) => schema)).toEqual([
      expect.objectContaining({
        message: 'not ready: this version waits for its schema',
        schema: 'behind: run orders migrate',
      }),
    ]);
  }

  // Orders wait, because a worker on an older schema would use up the attempts of valid orders.
  const account = await stack.account();
  const { body } = await intake.api.order(account, { source_order_id: 'early' });
  expect(worker.log.text()).not.toContain('worker ready');
  expect(await knex('receipts').where({ receipt_id: body.receipt_id }).first()).toMatchObject({
    state: 'received',
    attempts: 0,
  });

  await remember(newest);
  await until('the worker ready', async () => worker.log.text().includes('worker ready'));
  for (const app of [intake, worker, portal, notifier])
    expect(await readiness(app)).toMatchObject({ status: 200, schema: 'ok' });
  await expectSettled(stack, account, { [body.receipt_id]: 'written' });
  for (const app of [intake, worker, portal, notifier]) await app.close();
});

test('a worker that waits for its schema drains at once', async () => {
  await forget(newest);
  const worker = await stack.worker();
  await worker.close();
  expect(worker.log.text()).not.toContain('worker ready');
  await remember(newest);
});

test('a schema of a later version is accepted, and migrating it changes nothing', async () => {
  await remember('999-of-a-later-version');
  const intake = await stack.intake();
  expect(await readiness(intake)).toMatchObject({ status: 200, schema: 'ok' });
  expect(await migrate(db)).toEqual([]);
  await intake.close();
});
