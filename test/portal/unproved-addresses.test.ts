import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { createInvitation } from '@orders/database/users/invitations.ts';
import { until } from '@orders/test-services/until.ts';
import { createAuthenticator } from '../harness/authenticator.ts';
import { hold, whoWait } from '../harness/barriers.ts';
import { openIdentityVisit } from '../harness/identity-provider/visit.ts';
import { linkIn } from '../harness/mail-server.ts';
import { createPerson, openPortalClient, type PortalClient, signIn } from '../harness/people.ts';
import { addPasskey, addTotp } from '../harness/second-factors.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, db, portal, mailServer, provider } = useStack({ portal: true, mailServer: true, provider: true });

beforeEach(async () => {
  await knex('sign_in_attempts').delete();
});

const OWN = 'anvil zebra correct 77';
const OTHER = 'marble vortex another 88';
const REMOVED = 'earlier_credentials_removed';

const newAccount = async () => (await stack.account()).id;
const newOwner = async (accountId: number) => signIn(portal, await createPerson(stack, accountId));
const newAddress = () => `victim-${randomBytes(4).toString('hex')}@example.test`;
const tokenOf = ({ body }: { body: { link: string } }) => body.link.split('#')[1] as string;
const accept = (client: PortalClient, token: string, password: string) =>
  client.post('/invitations/accept', { token, name: 'Test Person', password });
const byPassword = (email: string, password: string) => openPortalClient(portal).post('/session', { email, password });
async function byPasskey(authenticator: ReturnType<typeof createAuthenticator>) {
  const client = openPortalClient(portal);
  const { body } = await client.post('/session/passkey/options');
  return client.post('/session/passkey', { passkey: authenticator.signIn(body) });
}
const actionsAbout = (email: string) =>
  knex('audit_events')
    .where({ subject: `user:${email}` })
    .orderBy('event_id')
    .pluck('action');

/** An owner of this account invites the address, opens the link and sets up all ways to sign in. */
async function openForeignLink(accountId: number, email: string) {
  const owner = await newOwner(accountId);
  const link = tokenOf(await owner.post(`/accounts/${accountId}/users`, { email, role: 'viewer' }));
  const session = openPortalClient(portal);
  expect((await accept(session, link, OWN)).status).toBe(204);
  const authenticator = createAuthenticator(portal.url);
  expect((await addPasskey(session, authenticator)).status).toBe(201);
  await addTotp(stack, session);
  return { session, authenticator };
}

/** The person asks for a new password and uses the mailed link. */
async function useMailedLink(email: string, password: string): Promise<void> {
  const resets = () =>
    mailServer.mailsTo(email).filter(({ parsed }) => parsed.subject?.startsWith('Set a new password'));
  const before = resets().length;
  expect((await openPortalClient(portal).post('/password-resets', { email })).status).toBe(202);
  const token = new URL(linkIn(await until('the link', async () => resets()[before]))).hash.slice(1);
  expect((await openPortalClient(portal).post('/password-resets/use', { token, password })).status).toBe(204);
}

async function signInAtProvider(email: string): Promise<string> {
  provider.account = { sub: email, email, email_verified: true };
  return openIdentityVisit(portal).signIn();
}

async function useOperatorsLink(email: string, accountId: number): Promise<void> {
  const operator = await signIn(portal, await createPerson(stack, null));
  const made = await operator.post('/operator/users', { email, account_id: accountId });
  expect(made.body.sets_new_password).toBe(true);
  expect((await accept(openPortalClient(portal), tokenOf(made), OTHER)).status).toBe(204);
}

describe('what an owner set up by the link that they made for another person ends when that person', () => {
  test.each([
    ['signs in at the identity provider', signInAtProvider, false],
    ["uses an operator's link", useOperatorsLink, true],
    ['uses a mailed link', (email: string) => useMailedLink(email, OTHER), true],
  ])('%s', async (_, prove, hasPassword) => {
    const [accountId, email] = [await newAccount(), newAddress()];
    const { session, authenticator } = await openForeignLink(accountId, email);
    expect(await actionsAbout(email)).not.toContain(REMOVED);
    await prove(email, accountId);
    expect((await session.get('/session')).body.code).toBe('not_signed_in');
    expect((await byPassword(email, OWN)).body.code).toBe('wrong_credentials');
    expect((await byPasskey(authenticator)).status).toBe(401);
    // A password alone is enough: neither the app nor a recovery code is asked for.
    const { status } = await byPassword(email, OTHER);
    expect(status).toBe(hasPassword ? 204 : 401);
    expect(
      await knex('user_second_factors').whereRaw('user_id = (select id from users where email = ?)', [email]),
    ).toEqual([]);
    expect((await actionsAbout(email)).filter((action) => action === REMOVED)).toHaveLength(1);
  });
});

test('what the person sets up after the proof stays', async () => {
  const [accountId, email] = [await newAccount(), newAddress()];
  await openForeignLink(accountId, email);
  expect(await signInAtProvider(email)).toBe('/');
  await useMailedLink(email, OTHER);
  const client = await signIn(portal, { email, password: OTHER, name: '', accountId });
  const authenticator = createAuthenticator(portal.url);
  expect((await addPasskey(client, authenticator)).status).toBe(201);
  await useMailedLink(email, OWN);
  expect((await byPasskey(authenticator)).status).toBe(204);
  expect(await signInAtProvider(email)).toBe('/');
  expect((await actionsAbout(email)).filter((action) => action === REMOVED)).toHaveLength(1);
});

test("what somebody set up by an operator's link stays when they sign in at the identity provider", async () => {
  const person = await createPerson(stack, await newAccount());
  const authenticator = createAuthenticator(portal.url);
  await addPasskey(await signIn(portal, person), authenticator);
  expect(await signInAtProvider(person.email)).toBe('/');
  expect((await byPasskey(authenticator)).status).toBe(204);
  expect(await actionsAbout(person.email)).not.toContain(REMOVED);
});

test("an operator's link that ends a binding to the identity provider records that", async () => {
  const accountId = await newAccount();
  const { email } = await createPerson(stack, accountId);
  await useOperatorsLink(email, accountId);
  expect(await actionsAbout(email)).not.toContain('identity_unbound');
  await signInAtProvider(email);
  await useOperatorsLink(email, accountId);
  expect(await actionsAbout(email)).toContain('identity_unbound');
});

test("of two links that are opened at once, an owner's does not replace the password of an operator's", async () => {
  const [accountId, email] = [await newAccount(), newAddress()];
  const owner = await newOwner(accountId);
  const own = tokenOf(await owner.post(`/accounts/${accountId}/users`, { email, role: 'viewer' }));
  const operator = await signIn(portal, await createPerson(stack, null));
  const other = tokenOf(await operator.post('/operator/users', { email, account_id: await newAccount() }));
  const held = await hold(knex, 'lock table users in exclusive mode');
  const opened = [accept(openPortalClient(portal), other, OTHER)];
  await whoWait(knex, 1, 'relation');
  opened.push(accept(openPortalClient(portal), own, OWN));
  await whoWait(knex, 1, 'advisory');
  await held.release();
  const replies = await Promise.all(opened);
  expect(replies.map(({ status, body }) => body.code ?? status)).toEqual([204, 'sign_in_to_accept']);
  expect((await byPassword(email, OWN)).body.code).toBe('wrong_credentials');
  expect((await byPassword(email, OTHER)).status).toBe(204);
});

test('a link for an operator does not make an operator of a member, nor the reverse', async () => {
  const [accountId, email] = [await newAccount(), newAddress()];
  const link = await createInvitation(db, { email, role: 'operator', accountId: null }, 'test', 3_600_000);
  await openForeignLink(accountId, email);
  expect((await accept(openPortalClient(portal), link, OTHER)).body.code).toBe('user_elsewhere');
  const operator = await createPerson(stack, null);
  const invited = { email: operator.email, role: 'account_holder', accountId } as const;
  const reverse = await createInvitation(db, invited, 'test', 3_600_000);
  expect((await accept(openPortalClient(portal), reverse, OTHER)).body.code).toBe('user_elsewhere');
  expect(await knex('users').whereIn('email', [email, operator.email]).orderBy('role').pluck('role')).toEqual([
    'account_holder',
    'operator',
  ]);
});
