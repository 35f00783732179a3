import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import { openPage } from '../harness/browser.ts';
import { testWith } from '../harness/programs.ts';
import { makeReviewOlder } from '../harness/review-list.ts';
import { runCommand } from '../harness/run-command.ts';
import { useStack } from '../harness/use-stack.ts';

const test = testWith('chromium');

const { stack, knex } = useStack();

test('a new account holder is invited, signs in, creates a key, runs the displayed code, sees the order arrive and confirms it for dispatch', async () => {
  const intake = await stack.intake();
  await stack.worker();
  const portal = await stack.portal({ INTAKE_URL: intake.api.url });
  const { id } = await stack.account();

  const env = { DATABASE_URL: stack.database.url, PORTAL_URL: portal.url };
  const invited = await runCommand(['users', 'invite', 'noura@example.test', '--account', String(id)], env);
  expect(invited.code).toBe(0);

  const page = await openPage({ permissions: ['clipboard-read', 'clipboard-write'] });
  await page.goto(/http:\S+/.exec(invited.stdout)?.[0] ?? '');
  await page.getByLabel('Your name').fill('Noura');
  await page.getByLabel(/^A password/).fill('seven falcons over the creek');
  await page.getByRole('button', { name: 'Set the password and sign in' }).click();
  await page.getByRole('link', { name: 'Developers' }).click();

  await page.getByRole('button', { name: 'Create a key' }).click();
  await page.getByLabel('What is the key for?').fill('shop');
  await page.getByRole('dialog').getByRole('button', { name: 'Create a key' }).click();
  await page.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByRole('link', { name: 'Try it' }).click();
  await page.getByRole('button', { name: 'Copy the code' }).click();
  const code = await page.evaluate<string>('navigator.clipboard.readText()');

  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Orders' }).click();
  await page.getByText('No orders yet').waitFor();
  const { stdout } = await promisify(execFile)('bash', ['-c', code]);
  expect(stdout).toContain('receipt_id');
  await page.locator('.order-row').waitFor();

  await page.locator('.order-row').getByRole('link').click();
  await page.getByRole('button', { name: /^Confirm order/ }).click();
  await page.getByRole('button', { name: 'Undo' }).waitFor();
  const confirmed = await until('it is confirmed', async () =>
    knex('orders').where({ review_state: 'confirmed' }).first(),
  );
  await makeReviewOlder(knex, [confirmed.order_id], 10);
  const order = await until('the order is dispatchable', async () =>
    knex('dispatchable_orders').where({ account_id: id }).first(),
  );
  expect(order.confirmed_by).toBe('noura@example.test');
});
