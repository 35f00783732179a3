import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { setSuspended } from '@orders/database/accounts/accounts.ts';
import { rotateSigning } from '@orders/database/accounts/signing-secrets.ts';
import { REJECTIONS } from '@orders/domain/rejections.ts';
import { until } from '@orders/test-services/until.ts';
import type { Page } from 'playwright-core';
import { expectAccessible, openPageAs } from '../harness/browser.ts';
import { moveClock, stopClock } from '../harness/clock.ts';
import { makeDirectory } from '../harness/directory.ts';
import { sign } from '../harness/hashes.ts';
import { openShop, type PortalClient } from '../harness/people.ts';
import { describeWith } from '../harness/programs.ts';
import type { TestAccount } from '../harness/stack.ts';
import { listChanges } from '../harness/stored.ts';
import { useStack } from '../harness/use-stack.ts';

const directory = makeDirectory();

const { stack, knex, db, api, portal } = useStack({ intake: { BASE_PATH: '/api' }, worker: true, portal: true });

/** An owner who has signed in, with a client, and the base path of the account. */
const signInOwner = ({ signing = false } = {}) => openShop(stack, portal, { signing });

const auditOf = (account: TestAccount) => listChanges(knex, account.id);

describe('isolation', () => {
  test('every route of another account is not found, for a user of an account and without a session', async () => {
    const { client } = await signInOwner();
    const { base, account } = await signInOwner({ signing: true });
    const [{ key_id }] = await knex('api_keys').where({ account_id: account.id });
    const receipt = (await api.order(account, { source_order_id: 'theirs' })).body.receipt_id;
    const routes: ((client: PortalClient) => Promise<{ status: number; body: { code: string } }>)[] = [
      (one) => one.get(`${base}/keys`),
      (one) => one.get(`${base}/setup`),
      (one) => one.post(`${base}/keys`, { name: 'x' }),
      (one) => one.post(`${base}/keys/${key_id}/replace`, { grace: 'none' }),
      (one) => one.post(`${base}/keys/${key_id}/revoke`),
      (one) => one.get(`${base}/signing`),
      (one) => one.post(`${base}/signing/reveal`),
      (one) => one.post(`${base}/signing/rotate`, { overlap: 'none' }),
      (one) => one.put(`${base}/signing/signed-only`, { signed_only: true }),
      (one) => one.post(`${base}/test-orders`),
      (one) => one.get(`${base}/receipts/${receipt}`),
      (one) => one.get(`${base}/rejected-deliveries`),
    ];
    for (const ask of routes)
      expect(await ask(client)).toMatchObject({ status: 404, body: { code: 'account_not_found' } });
    await client.delete('/session');
    for (const ask of routes) expect(await ask(client)).toMatchObject({ status: 401, body: { code: 'not_signed_in' } });
    expect(await auditOf(account)).toEqual([]);
    expect((await api.order(account, { source_order_id: 'the key still works' })).status).toBe(202);
  });

  test('a key or receipt of another account is not found under the own account', async () => {
    const { client, base } = await signInOwner();
    const other = await stack.account();
    const [{ key_id }] = await knex('api_keys').where({ account_id: other.id });
    const receipt = (await api.order(other, { source_order_id: 'theirs too' })).body.receipt_id;
    for (const id of [key_id, 2 ** 30, 2 ** 31, 10 ** 14, 'x', '0']) {
      const replies = [
        await client.post(`${base}/keys/${id}/replace`, { grace: 'none' }),
        await client.post(`${base}/keys/${id}/revoke`),
      ];
      for (const reply of replies) expect(reply).toMatchObject({ status: 404, body: { code: 'key_not_found' } });
    }
    for (const id of [receipt, '01a1f9bd-9a17-7354-8023-e51a3a7d2f89', 'x'])
      expect(await client.get(`${base}/receipts/${id}`)).toMatchObject({
        status: 404,
        body: { code: 'receipt_not_found' },
      });
    expect((await api.order(other, { source_order_id: 'still works' })).status).toBe(202);
  });

  test('a rejected delivery is shown only to its own account', async () => {
    const [one, other] = [await signInOwner(), await signInOwner()];
    await api.order(one.account, '{}');
    const seen = await until('it is shown', async () => {
      const { body } = await one.client.get(`${one.base}/rejected-deliveries`);
      return body.rejected_deliveries.length > 0 && body.rejected_deliveries;
    });
    expect(seen).toMatchObject([
      { code: 'validation_failed', key_name: 'test', key_last_four: one.account.key.slice(-4) },
    ]);
    expect((await other.client.get(`${other.base}/rejected-deliveries`)).body).toEqual({ rejected_deliveries: [] });
  });
});

describe('keys', () => {
  test('are created, used, replaced with grace and revoked with audit records, and their secret is stored nowhere', async () => {
    const { client, base, account, person } = await signInOwner();
    const made = (await client.post(`${base}/keys`, { name: ' shop ' })).body;
    expect(made).toMatchObject({ name: 'shop', state: 'active', key: expect.stringMatching(/^oik_/) });
    const send = (key: string) => api.order({ ...account, key }, { source_order_id: 'by key' });
    expect((await send(made.key)).status).toBe(202);
    const newer = (await client.post(`${base}/keys/${made.key_id}/replace`, { grace: '1h' })).body;
    expect((await send(newer.key)).status).toBe(202);
    expect((await send(made.key)).status).toBe(202);
    expect(await client.post(`${base}/keys/${made.key_id}/revoke`)).toMatchObject({ body: { state: 'revoked' } });
    for (const verb of ['revoke', 'replace']) {
      const again = await client.post(
        `${base}/keys/${made.key_id}/${verb}`,
        verb === 'replace' ? { grace: 'none' } : undefined,
      );
      expect(again).toMatchObject({ status: 409, body: { code: 'conflicting_state' } });
    }
    const { keys } = (await client.get(`${base}/keys`)).body;
    expect(keys.map(({ name, state }: { name: string; state: string }) => `${name} ${state}`)).toEqual([
      'test active',
      'shop revoked',
      'shop active',
    ]);
    const details = { name: 'shop', last_four: made.last_four };
    const [actor, subject] = [person.email, `key:${made.key_id}`];
    expect(await auditOf(account)).toEqual([
      { action: 'key_revoked', actor, subject, details },
      { action: 'key_replaced', actor, subject, details: { ...details, grace: '1h', new_key_id: newer.key_id } },
      { action: 'key_created', actor, subject, details },
    ]);
    const kept = JSON.stringify([keys, await auditOf(account)]) + portal.log.text();
    for (const { key } of [made, newer]) expect(kept).not.toContain(key.slice(4, -4));
  });

  test.each([
    {},
    { name: '' },
    { name: ' ' },
    { name: 'x'.repeat(201) },
    { name: 'a\u0000b' },
    { name: 'x', account_id: 1 },
    { name: 'x', scopes: [] },
    { name: 'x', scopes: ['send', 'send'] },
    { name: 'x', scopes: ['write'] },
    { name: 'x', expires: '31d' },
    { name: 'x', addresses: ['203.0.113.0/33'] },
    { name: 'x', addresses: ['shop.example'] },
    { name: 'x', addresses: Array.from({ length: 21 }, (_, n) => `203.0.113.${n}`) },
  ])('are not created with %j', async (body) => {
    const { client, base } = await signInOwner();
    expect(await client.post(`${base}/keys`, body)).toMatchObject({ status: 422, body: { code: 'invalid_request' } });
  });
});

test('a key is created with scopes, addresses and an expiry, which its replacement keeps', async () => {
  const { client, base, account } = await signInOwner();
  const limits = { scopes: ['send'], addresses: ['127.0.0.1', '2001:db8::/32'] };
  const made = (await client.post(`${base}/keys`, { name: 'till', ...limits, expires: '30d' })).body;
  expect(made).toMatchObject({ ...limits, lifetime_seconds: 2_592_000, expires_soon: false });
  const by = { ...account, key: made.key };
  expect((await api.order(by, { source_order_id: 'limited' })).status).toBe(202);
  expect((await api.reconcile(by, ['limited'])).body.code).toBe('insufficient_scope');
  const newer = (await client.post(`${base}/keys/${made.key_id}/replace`, { grace: '1h' })).body;
  expect(newer).toMatchObject({ ...limits, lifetime_seconds: 2_592_000 });
  const again = await client.post(`${base}/keys/${made.key_id}/replace`, { grace: '1h' });
  expect(again.body.code).toBe('conflicting_state');
  expect((await auditOf(account)).at(-1)?.details).toMatchObject({ ...limits, expires_at: made.expires_at });
});

test('the limits of a key are changed, each by itself, and the key stays', async () => {
  const { client, base, account } = await signInOwner();
  const made = (await client.post(`${base}/keys`, { name: 'till', expires: '30d' })).body;
  const by = { ...account, key: made.key };
  const path = `${base}/keys/${made.key_id}`;
  expect((await client.patch(path, {})).body).toMatchObject({ key_id: made.key_id, scopes: made.scopes });
  const limited = (await client.patch(path, { scopes: ['read'], addresses: ['127.0.0.1'] })).body;
  expect(limited).toMatchObject({ scopes: ['read'], addresses: ['127.0.0.1'], expires_at: made.expires_at });
  const isRefused = async () => (await api.order(by, {})).body.code === 'insufficient_scope';
  await until('the key sends no order', isRefused);
  expect((await client.patch(path, { expires: 'never' })).body).toMatchObject({ scopes: ['read'], expires_at: null });
  expect(await auditOf(account)).toMatchObject([
    { action: 'key_updated', details: { expires_at: null } },
    { action: 'key_updated', details: { scopes: ['read'], addresses: ['127.0.0.1'] } },
    { action: 'key_created' },
  ]);
  for (const body of [{ scopes: [] }, { addresses: ['shop.example'] }, { expires: '1d' }, { name: 'other' }])
    expect((await client.patch(path, body)).body.code).toBe('invalid_request');
  await client.post(`${path}/replace`, { grace: '1h' });
  expect((await client.patch(path, { scopes: ['send'] })).body.code).toBe('conflicting_state');
  expect((await (await signInOwner()).client.patch(path, { scopes: ['send'] })).body.code).toBe('account_not_found');
});

test('deliveries must be signed once a user of the account says so, which needs signing to be enabled', async () => {
  const { client, base, account } = await signInOwner({ signing: true });
  const without = await signInOwner();
  const refused = await without.client.put(`${without.base}/signing/signed-only`, { signed_only: true });
  expect(refused).toMatchObject({ status: 403, body: { code: 'signing_unavailable' } });
  for (const signed_only of [true, true])
    expect((await client.put(`${base}/signing/signed-only`, { signed_only })).body).toEqual({ signed_only });
  expect((await client.get(`${base}/signing`)).body).toMatchObject({ secrets: [{}], signed_only: true });
  expect((await api.order(account, { source_order_id: 'unsigned' })).body.code).toBe('signature_required');
  expect((await client.put(`${base}/signing/signed-only`, { signed_only: 'no' })).body.code).toBe('invalid_request');
  await client.put(`${base}/signing/signed-only`, { signed_only: false });
  expect((await auditOf(account)).map(({ action, details }) => [action, details])).toEqual([
    ['signed_only_changed', { signed_only: false }],
    ['signed_only_changed', { signed_only: true }],
  ]);
});

describe('signing secrets', () => {
  test('are hidden until revealed (with an audit record) and overlap when rotated', async () => {
    const { client, base, account, person } = await signInOwner({ signing: true });
    const listed = (await client.get(`${base}/signing`)).body;
    expect(listed.secrets).toHaveLength(1);
    expect(JSON.stringify(listed)).not.toContain('oss_');
    expect((await client.post(`${base}/signing/reveal`)).body.secrets).toMatchObject([{ secret: account.secret }]);
    const rotated = await client.post(`${base}/signing/rotate`, { overlap: '24h' });
    expect(JSON.stringify(rotated.body)).not.toContain('oss_');
    expect((await api.webhook(account, { source_order_id: 'by the old one' })).status).toBe(202);
    const [current, old] = await until('its use is noted', async () => {
      const { secrets } = (await client.get(`${base}/signing`)).body;
      return secrets[1].last_used_at && secrets;
    });
    expect([current.last_used_at, current.expires_at]).toEqual([null, null]);
    expect((Date.parse(old.expires_at) - Date.now()) / 3_600_000).toBeCloseTo(24, 1);
    const revealed = (await client.post(`${base}/signing/reveal`)).body.secrets;
    expect(revealed).toMatchObject([{ secret: expect.stringMatching(/^oss_/) }, { secret: account.secret }]);
    const entry = { actor: person.email, subject: `account:${account.id}`, details: null };
    expect(await auditOf(account)).toEqual([
      { ...entry, action: 'signing_secret_revealed' },
      { ...entry, action: 'signing_secret_rotated', details: { overlap: '24h' } },
      { ...entry, action: 'signing_secret_revealed' },
    ]);
    expect(portal.log.text()).not.toContain(account.secret?.slice(4));
  });

  test('are not available to users of the account unless an operator enabled signing', async () => {
    const { client, base, account } = await signInOwner();
    expect((await client.get(`${base}/signing`)).body).toEqual({ secrets: [], signed_only: false });
    for (const [verb, body] of [['reveal'], ['rotate', { overlap: 'none' }]] as const)
      expect((await client.post(`${base}/signing/${verb}`, body)).body.code).toBe('signing_unavailable');
    expect(await auditOf(account)).toEqual([]);
  });
});

describe('a test order', () => {
  test('is processed like every order and has an audit record', async () => {
    const { client, base, account } = await signInOwner();
    const { status, body } = await client.post(`${base}/test-orders`);
    expect(status).toBe(202);
    const written = await until('it is written', async () => {
      const { body: receipt } = await client.get(`${base}/receipts/${body.receipt_id}`);
      return receipt.status === 'written' && receipt;
    });
    expect(written).toMatchObject({
      channel: 'rest',
      warnings: [],
      source_order_id: expect.stringMatching(/^test-\d{14}-/),
    });
    expect(await auditOf(account)).toMatchObject([
      { action: 'test_order_sent', subject: `receipt:${body.receipt_id}` },
    ]);
  });

  test('is limited to one a second and rejected for a suspended account', async () => {
    const { client, base, account } = await signInOwner();
    const send = () => client.post(`${base}/test-orders`);
    const goOn = stopClock();
    const replies = await Promise.all([send(), send(), send()]);
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 429, 429]);
    await moveClock(0.99);
    expect((await send()).body.code).toBe('rate_limited');
    await moveClock(0.01);
    expect((await send()).status).toBe(202);
    goOn();
    await setSuspended(db, account.id, true);
    expect((await send()).body.code).toBe('account_suspended');
    expect(await auditOf(account)).toHaveLength(2);
  });
});

/** Runs a displayed program. @returns its output. */
async function runSnippet(language: string, text: string): Promise<string> {
  const run = promisify(execFile);
  if (language === 'curl') return (await run('bash', ['-c', text])).stdout;
  const [command, file] = language === 'Node.js' ? [process.execPath, 'send.mjs'] : ['python3', 'send.py'];
  await writeFile(join(directory, file), text);
  return (await run(command, [join(directory, file)], { env: { PATH: process.env.PATH } })).stdout;
}

const isThere = (command: string) =>
  promisify(execFile)(command, ['--version']).then(
    () => true,
    () => false,
  );

const code = (page: Page) => page.getByRole('region', { name: / code$/ }).locator('pre');

describeWith('chromium')('in a browser', () => {
  test('a developer creates a key, and the displayed code runs unchanged', async () => {
    const { account, person } = await signInOwner({ signing: true });
    const page = await openPageAs(portal, person, `/accounts/${account.id}/developers`, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('What is the key for?').fill('shop back end');
    await page.getByRole('dialog').getByRole('button', { name: 'Create a key' }).click();
    await page.getByText('This is shown once').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Copy the key' }).click();
    const key = await page.evaluate<string>('navigator.clipboard.readText()');
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('link', { name: 'Webhook', exact: true }).click();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Reveal' }).click();
    await page
      .getByText(account.secret as string)
      .first()
      .waitFor();
    await page.getByRole('link', { name: 'Try it' }).click();
    await expectAccessible(page);

    const printed: Record<string, string> = {};
    for (const language of ['curl', 'Node.js', 'Python'])
      for (const route of ['REST', 'signed webhook']) {
        await page.getByRole('radio', { name: language, exact: true }).check();
        await page.getByRole('radio', { name: route, exact: true }).check();
        const text = (await code(page).textContent()) ?? '';
        expect(text).toContain(key);
        if (language !== 'Python' || (await isThere('python3')))
          printed[`${language} ${route}`] = await runSnippet(language, text);
      }
    for (const [name, output] of Object.entries(printed))
      expect({ name, output }).toEqual({ name, output: expect.stringContaining('202') });
    await page.getByRole('button', { name: 'Copy the code' }).click();
    await page.getByRole('button', { name: 'Remove it' }).click();
    expect(await code(page).textContent()).toContain('YOUR_API_KEY');
    await page.reload();
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByText('shop back end').waitFor();
    expect(await page.content()).not.toContain(key);
  });

  test('a user of an account limits a key, sees that it expires soon, and requires signatures', async () => {
    const { account, person } = await signInOwner({ signing: true });
    const page = await openPageAs(portal, person, `/accounts/${account.id}/developers`);
    await page.getByRole('button', { name: 'Create a key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('What is the key for?').fill('warehouse');
    await expectAccessible(page);
    for (const name of ['Send orders', 'Cancel orders']) await dialog.getByLabel(name).uncheck();
    await dialog.getByRole('radio', { name: 'in 30 days' }).check();
    await dialog.getByLabel('Addresses from which').fill('127.0.0.1\n203.0.113.0/33');
    await dialog.getByRole('button', { name: 'Create a key' }).click();
    await dialog.getByText('Enter only valid IP addresses').waitFor();
    await expectAccessible(page);
    await dialog.getByLabel('Addresses from which').fill('127.0.0.1, 203.0.113.0/24');
    await dialog.getByRole('button', { name: 'Create a key' }).click();
    const key = (await dialog.locator('pre').textContent()) as string;
    expect((await api.reconcile({ ...account, key }, ['a'])).status).toBe(200);
    expect((await api.order({ ...account, key }, {})).body.code).toBe('insufficient_scope');
    await dialog.getByRole('button', { name: 'I have saved it' }).click();
    const row = page.getByRole('row', { name: 'warehouse' });
    for (const text of ['Only: Read the outcome of orders', 'Only from 127.0.0.1, 203.0.113.0/24', 'Expires '])
      await row.getByText(text).waitFor();
    expect(await page.getByText('Replace it before then').count()).toBe(0);
    await row.getByRole('button', { name: 'Change limits' }).click();
    await expectAccessible(page);
    await dialog.getByLabel('Cancel orders').check();
    await dialog.getByLabel('Addresses from which').fill('nowhere');
    await dialog.getByRole('button', { name: 'Save the limits' }).click();
    await dialog.getByText('Enter only valid IP addresses').waitFor();
    await dialog.getByLabel('Addresses from which').fill('');
    await dialog.getByRole('button', { name: 'Save the limits' }).click();
    await row.getByText('Only: Cancel orders · Read the outcome of orders').waitFor();
    expect(await row.getByText('Only from').count()).toBe(0);
    await row.getByText('Expires ').waitFor();
    await knex('api_keys')
      .where({ account_id: account.id, name: 'warehouse' })
      .update({ expires_at: new Date(Date.now() + 13 * 86_400_000) });
    await page.reload();
    await page.getByText('The key warehouse').waitFor();
    await expectAccessible(page);

    await page.getByRole('link', { name: 'Webhook', exact: true }).click();
    const signedOnly = page.getByRole('switch', { name: 'Accept signed deliveries only' });
    await signedOnly.click();
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Accept signed only' }).click();
    await page.getByRole('switch', { name: 'Accept signed deliveries only', checked: true }).waitFor();
    await expectAccessible(page);
    const isRefused = async () => (await api.order(account, {})).body.code === 'signature_required';
    await until('it is refused', isRefused);
    await signedOnly.click();
    await page.getByRole('switch', { name: 'Accept signed deliveries only', checked: false }).waitFor();
  });

  test('webhooks with five kinds of wrong signatures appear with five different causes', async () => {
    const { account, person } = await signInOwner({ signing: true });
    const other = await stack.account({ signing: true });
    const newer = await rotateSigning(db, stack.secretsKey, account.id, 0);
    const secret = newer?.secret as string;
    const page = await openPageAs(portal, person, `/accounts/${account.id}/rejected`);
    await page.getByText('Nothing was rejected').waitFor();
    await expectAccessible(page);
    const body = '{"source_order_id":"five-1","total":"10.00"}';
    const cases: [signature: string, what: RegExp][] = [
      [sign(secret, JSON.stringify(JSON.parse(body), null, 2)), /serialized again/],
      [Buffer.from(sign(secret, body), 'hex').toString('base64'), /base64 instead of hex/],
      [sign(other.secret, body), /another secret/],
      [sign(account.secret, body), /previous secret/],
      [sign(secret, `${body}\n`), /one line break more or fewer/],
    ];
    const items = page.locator('.rejected-list > li');
    for (const [index, [signature, what]] of cases.entries()) {
      const reply = await api.webhook(account, body, { 'x-service-signature': `sha256=${signature}` });
      expect(reply.body.code).toBe('invalid_signature');
      // The first one must appear without any action on the page.
      if (index === 0) await items.first().getByText(what).first().waitFor();
    }
    for (const [index, [, what]] of cases.toReversed().entries())
      await items.nth(index).getByText(what).first().waitFor();
    expect(await items.count()).toBe(5);
    await expectAccessible(page);
  });

  test('a batch that is rejected whole is shown as a batch with advice', async () => {
    const { account, person } = await signInOwner();
    expect((await api.batch(account, '{"source_order_id":"no array"}')).body.code).toBe('malformed_body');
    const page = await openPageAs(portal, person, `/accounts/${account.id}/rejected`);
    const item = page.locator('.rejected-list > li');
    await item.getByText('POST /ingest/orders/batch').waitFor();
    await item.getByText('The batch could not be read').waitFor();
    expect(await item.textContent()).not.toContain('Send one JSON object');
  });

  test('in Arabic and dark mode a test order, a key replacement, a revocation and a secret rotation work', async () => {
    const { account, person, client, base } = await signInOwner({ signing: true });
    const page = await openPageAs(portal, person, `/accounts/${account.id}/developers`, {
      locale: 'ar-AE',
      colorScheme: 'dark',
    });
    await page.getByRole('button', { name: 'استبدال' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'استبدال' }).click();
    await page.getByRole('button', { name: 'حفظته' }).click();
    await page.getByRole('button', { name: 'إبطال' }).first().click();
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'إبطال المفتاح' }).click();
    await page.getByText('مفتاح واحد متوقف عن العمل').waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'الويب هوك', exact: true }).click();
    await page.getByRole('button', { name: 'تبديل السر' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'تبديل السر' }).click();
    await page.getByText('القديم', { exact: true }).waitFor();
    await expectAccessible(page);
    expect((await client.get(`${base}/keys`)).body.keys).toHaveLength(2);
    await page.getByRole('link', { name: 'التجربة' }).click();
    await page.getByRole('button', { name: 'إرسال طلب تجريبي' }).click();
    await page.getByRole('link', { name: 'فتح الطلب' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'فتح الطلب' }).click();
    await page.getByText('Test customer').first().waitFor();
  });
});

test.each(['en', 'ar'])('every audit action on this page has a translation in %s', async (language) => {
  const { default: texts } = await import(`../../apps/portal/page/src/locales/${language}/audit.json`, {
    with: { type: 'json' },
  });
  const keys = ['key_created', 'key_updated', 'key_replaced', 'key_revoked'];
  const others = ['signed_only_changed', 'signing_secret_revealed', 'signing_secret_rotated', 'test_order_sent'];
  expect([...keys, ...others].filter((action) => !texts.action[action])).toEqual([]);
});

test.each(['en', 'ar'])('every rejection and every cause has a translation in %s', async (language) => {
  const { default: texts } = await import(`../../apps/portal/page/src/locales/${language}/integrations.json`, {
    with: { type: 'json' },
  });
  const { what, how, diagnosis, batch } = texts.rejected;
  expect(Object.keys(batch)).toEqual(['unsupported_media_type', 'payload_too_large', 'malformed_body']);
  for (const [code, causes] of Object.entries(REJECTIONS)) {
    expect([code, what[code], how[code]]).toEqual([code, expect.any(String), expect.any(String)]);
    expect([code, Object.keys(diagnosis[code] ?? {})]).toEqual([code, [...causes]]);
    for (const cause of causes)
      expect(diagnosis[code][cause]).toEqual({ what: expect.any(String), how: expect.any(String) });
  }
});
