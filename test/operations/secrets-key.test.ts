import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { fingerprintOf, unseal } from '@orders/database/accounts/seal.ts';
import { enableSigning } from '@orders/database/accounts/signing-secrets.ts';
import { removeSource, replaceSourceSecret } from '@orders/database/sources/change-sources.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { codeOf } from '../harness/api.ts';
import { whoWait } from '../harness/barriers.ts';
import { createPerson, openShop, signIn } from '../harness/people.ts';
import { readMetrics } from '../harness/read-metrics.ts';
import { runCommand } from '../harness/run-command.ts';
import { addTotp, forgetTimeSteps, startSignIn } from '../harness/second-factors.ts';
import { createTestSource, deliver, SOURCE_SECRET, shopifyHeaders } from '../harness/sources.ts';
import type { RunningIntake, RunningPortal, TestAccount } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

const next = randomBytes(32).toString('base64');
const FINGERPRINT = fingerprintOf(Buffer.from(next, 'base64'));

const { stack, knex } = useStack();

const reseal = (env: Record<string, string>) =>
  runCommand(['signing', 'reseal', '--json'], { DATABASE_URL: stack.database.url, ...env });

async function keyOf({ adminUrl }: { adminUrl: string }) {
  const reply = await fetch(`${adminUrl}/health/ready`);
  const { secrets_key, unreadable_signing_secrets } = (await reply.json()) as Record<string, unknown>;
  return { secrets_key, unreadable_signing_secrets };
}

let sent = 0;
async function statusOfWebhook({ api }: RunningIntake, account: TestAccount): Promise<number> {
  sent += 1;
  return (await api.webhook(account, { source_order_id: `webhook ${sent}` })).status;
}

test('SECRETS_KEY is exchanged without rejecting a webhook', async () => {
  const old = stack.env.SECRETS_KEY as string;
  const [plain, rotated] = [await stack.account({ signing: true }), await stack.account({ signing: true })];
  // First every process gets both keys, because one that restarts late must open secrets sealed with the new key.
  const late = await stack.intake({ SECRETS_KEY: old, SECRETS_KEY_PREVIOUS: next });
  expect(await statusOfWebhook(late, plain)).toBe(202);

  const both = { SECRETS_KEY: next, SECRETS_KEY_PREVIOUS: old };
  const intake = await stack.intake(both);
  const portal = await stack.portal(both);
  expect([await statusOfWebhook(intake, plain), await statusOfWebhook(intake, rotated)]).toEqual([202, 202]);

  // The portal opens secrets sealed with the old key and seals with the new one.
  const shop = await openShop(stack, portal);
  expect((await shop.post('/signing/reveal')).body.secrets).toEqual([
    expect.objectContaining({ secret: shop.account.secret }),
  ]);
  expect((await shop.post('/signing/rotate', { overlap: '24h' })).status).toBe(200);
  const [newer] = (await shop.post('/signing/reveal')).body.secrets;
  const withNew = { ...shop.account, secret: newer.secret };
  expect([await statusOfWebhook(intake, withNew), await statusOfWebhook(late, withNew)]).toEqual([202, 202]);
  expect(await statusOfWebhook(intake, shop.account)).toBe(202);

  // Without the old key its secrets cannot be opened until all are resealed, and senders get 503.
  const early = await stack.intake({ SECRETS_KEY: next });
  const refused = await early.api.webhook(plain, { source_order_id: 'too early' });
  expect(codeOf(refused)).toEqual([503, 'storage_unavailable']);
  expect(refused.headers['retry-after']).toMatch(/^[1-9]/);
  expect(await keyOf(early)).toEqual({ secrets_key: FINGERPRINT, unreadable_signing_secrets: 3 });
  expect(await keyOf(intake)).toEqual({ secrets_key: FINGERPRINT, unreadable_signing_secrets: 0 });
  expect((await keyOf(portal)).secrets_key).toBe(FINGERPRINT);
  expect((await keyOf(late)).secrets_key).not.toBe(FINGERPRINT);
  const { code, stdout } = await reseal(both);
  expect([code, JSON.parse(stdout)]).toEqual([
    0,
    { secrets_key: FINGERPRINT, resealed: 3, unchanged: 1, unreadable: [], unreadable_users: [] },
  ]);
  const after = await stack.intake({ SECRETS_KEY: next });
  for (const account of [plain, rotated, withNew, shop.account])
    expect(await statusOfWebhook(after, account)).toBe(202);
  expect(await statusOfWebhook(intake, plain)).toBe(202);

  expect(JSON.parse((await reseal({ SECRETS_KEY: next })).stdout)).toEqual({
    secrets_key: FINGERPRINT,
    resealed: 0,
    unchanged: 4,
    unreadable: [],
    unreadable_users: [],
  });
  const log = await knex('audit_events').where({ action: 'signing_resealed' }).orderBy('event_id');
  expect(log.map(({ details }) => details.resealed)).toEqual([3, 0]);
});

test('codes of authenticator apps are accepted through the exchange, and refused once the key is lost', async () => {
  const old = stack.env.SECRETS_KEY as string;
  const person = await createPerson(stack);
  const before = await stack.portal();
  const { app, recoveryCodes } = await addTotp(stack, await signIn(before, person));
  const isAccepted = async (portal: RunningPortal) => {
    await forgetTimeSteps(stack);
    const { client } = await startSignIn(portal, person);
    return (await client.post('/session/second-factor', { code: await app.code() })).status;
  };
  const both = { SECRETS_KEY: next, SECRETS_KEY_PREVIOUS: old };
  const portal = await stack.portal(both);
  const alone = await stack.portal({ SECRETS_KEY: next });
  const late = await stack.portal({ SECRETS_KEY: old, SECRETS_KEY_PREVIOUS: next });
  expect([await isAccepted(portal), await isAccepted(alone)]).toEqual([204, 500]);
  // Recovery codes are stored as hashes, for which no key is needed.
  const { client } = await startSignIn(alone, person);
  expect((await client.post('/session/second-factor', { recovery_code: recoveryCodes[0] })).status).toBe(204);
  const unreadable = await reseal({ SECRETS_KEY: randomBytes(32).toString('base64') });
  expect([unreadable.code, unreadable.stderr]).toEqual([
    1,
    expect.stringContaining(`reset-second-factor: ${person.email}.`),
  ]);
  const { stdout } = await reseal(both);
  expect(JSON.parse(stdout)).toMatchObject({ resealed: 1, unreadable_users: [] });
  expect(JSON.parse((await reseal(both)).stdout)).toMatchObject({ resealed: 0 });
  expect([await isAccepted(alone), await isAccepted(late)]).toEqual([204, 204]);
  await knex('user_second_factors').delete();
});

test('the present and the previous secret of a source are resealed; until then its deliveries get 503', async () => {
  const old = stack.env.SECRETS_KEY as string;
  const account = await stack.account();
  const source = await createTestSource(stack, account, 'shopify');
  const { source_number: sourceNumber } = source;
  const replaced = { accountId: account.id, sourceNumber, secret: 'another secret', overlapMs: 3_600_000 };
  await replaceSourceSecret(connectionOf(knex), stack.secretsKey, replaced);
  const body = '{"id": 1}';
  const statuses = async ({ api }: RunningIntake) =>
    Promise.all(
      [SOURCE_SECRET, 'another secret'].map(
        async (secret) => (await deliver(api, source, body, shopifyHeaders(body, 'orders/create', secret))).status,
      ),
    );
  const early = await stack.intake({ SECRETS_KEY: next });
  expect(await statuses(early)).toEqual([503, 503]);
  expect(await keyOf(early)).toMatchObject({ unreadable_signing_secrets: 2 });
  // The platform sends them again, so the account sees no rejections.
  const counted = (await readMetrics(early.adminUrl)).get('intake_source_deliveries_total')?.samples ?? [];
  expect(counted.filter(({ value }) => value > 0)).toEqual([]);
  const { stdout } = await reseal({ SECRETS_KEY: next, SECRETS_KEY_PREVIOUS: old });
  expect(JSON.parse(stdout)).toMatchObject({ resealed: 2, unreadable: [] });
  expect(await statuses(await stack.intake({ SECRETS_KEY: next }))).toEqual([202, 202]);
  expect(await removeSource(connectionOf(knex), account.id, sourceNumber)).toBe(true);
});

test('a secret that is created with the old key during a reseal is resealed too', async () => {
  const old = stack.env.SECRETS_KEY as string;
  const { id } = await stack.account();
  const before = await knex('signing_secrets');
  const making = await knex.transaction();
  const { secret } = await enableSigning(connectionOf(making), Buffer.from(old, 'base64'), id);
  const both = { SECRETS_KEY: next, SECRETS_KEY_PREVIOUS: old };
  const resealing = reseal(both);
  await whoWait(knex, 1, 'relation');
  await making.commit();
  expect(JSON.parse((await resealing).stdout)).toMatchObject({ resealed: 1, unchanged: before.length, unreadable: [] });
  const [row] = await knex('signing_secrets').where({ account_id: id });
  expect(unseal(Buffer.from(next, 'base64'), id, row.sealed)).toBe(secret);
});

test('a secret that no key opens is reported and kept, and others are resealed', async () => {
  const lost = await stack.account({ signing: true });
  const foreign = await knex('signing_secrets')
    .where({ account_id: lost.id })
    .update({ sealed: randomBytes(75) })
    .returning('sealed');
  const known = await stack.account({ signing: true });
  const { code, stdout, stderr } = await reseal({
    SECRETS_KEY: next,
    SECRETS_KEY_PREVIOUS: stack.env.SECRETS_KEY as string,
  });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(new RegExp(`: ${lost.id}\\.\\n$`));
  expect(await knex('signing_secrets').where({ account_id: lost.id }).select('sealed')).toEqual(foreign);
  expect(await statusOfWebhook(await stack.intake({ SECRETS_KEY: next }), known)).toBe(202);
});
