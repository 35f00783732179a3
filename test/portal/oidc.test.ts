import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { unbindUser } from '@orders/database/users/identities.ts';
import { acceptInvitation, createInvitation } from '@orders/database/users/invitations.ts';
import { findUser } from '@orders/database/users/users.ts';
import { type IdentityVisit, locationOf, openIdentityVisit } from '../harness/identity-provider/visit.ts';
import { signIn, type TestPerson } from '../harness/people.ts';
import { addTotp } from '../harness/second-factors.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, db, portal, provider, person } = useStack({ portal: true, provider: true, person: 'each test' });

beforeEach(async () => {
  Object.assign(provider, { account: null, forge: undefined, fault: undefined, requests: [] });
  // Tests share one network.
  await knex('sign_in_attempts').delete();
});

const newSub = () => randomBytes(8).toString('hex');

/** Signs the account in at the provider, then at the portal. */
function signInAs(account: { email: string; sub?: string; email_verified?: boolean; amr?: string[] }) {
  provider.account = { sub: newSub(), email_verified: true, ...account };
  const visit = openIdentityVisit(portal);
  return visit.signIn().then((location) => ({ visit, location }));
}
const whereTo = async (account: Parameters<typeof signInAs>[0]) => (await signInAs(account)).location;

/** The callback's address, at the provider's last redirect. */
async function callbackOf(visit: IdentityVisit, email: string): Promise<string> {
  provider.account = { sub: newSub(), email, email_verified: true };
  return (await visit.atProvider(await visit.start())).slice(portal.url.length);
}

async function sessionOf({ email }: TestPerson) {
  const user = await findUser(db, email);
  return knex('user_sessions').where({ user_id: user?.user_id }).orderBy('created_at', 'desc').first();
}
const bindingsOf = async ({ email }: { email: string }) =>
  knex('user_credentials')
    .whereNot({ provider_id: 'credential' })
    .where({ user_id: (await findUser(db, email))?.user_id });

const auditOf = async ({ email }: TestPerson) =>
  (
    await knex('audit_events')
      .where({ subject: `user:${email}` })
      .orderBy('event_id')
  ).map(({ action, details }) => [action, details?.refused ?? details?.method ?? null]);

describe('signing in by the identity provider', () => {
  test('a user signs in by the verified e-mail address, and later by the id that the provider gave them', async () => {
    const sub = newSub();
    const { visit, location } = await signInAs({ email: person.email.toUpperCase(), sub });
    expect(location).toBe('/');
    expect(await (await visit.ask('/api/session')).json()).toMatchObject({ email: person.email });
    expect(await whereTo({ email: 'married@example.test', sub })).toBe('/');
    expect(await auditOf(person)).toEqual([
      ['identity_bound', null],
      ['signed_in', 'identity_provider'],
      ['signed_in', 'identity_provider'],
    ]);
  });

  test('no token of the provider is stored', async () => {
    await signInAs({ email: person.email, sub: 'the-sub' });
    expect(await bindingsOf(person)).toEqual([
      expect.objectContaining({
        provider_id: provider.issuer,
        provider_account_id: 'the-sub',
        access_token: null,
        refresh_token: null,
        id_token: null,
        password: null,
        scope: null,
      }),
    ]);
  });

  test('the session has a second factor only if the provider asked for several', async () => {
    const sub = newSub();
    await signInAs({ email: person.email, sub, amr: ['pwd', 'otp'] });
    expect(await sessionOf(person)).toMatchObject({ second_factor: false });
    await signInAs({ email: person.email, sub, amr: ['pwd', 'otp', 'mfa'] });
    expect(await sessionOf(person)).toMatchObject({ second_factor: true });
  });

  test('a user who has a second factor proves it, unless the provider asked for several', async () => {
    const { app } = await addTotp(stack, await signIn(portal, person));
    const sub = newSub();
    const orders = `/api/accounts/${person.accountId}/orders`;
    const { visit } = await signInAs({ email: person.email, sub });
    expect(await (await visit.ask(orders)).json()).toMatchObject({ code: 'second_factor_required' });
    const proof = { password: person.password, code: await app.code() };
    expect((await visit.ask('/api/session/confirm', proof)).status).toBe(204);
    expect((await visit.ask(orders)).status).toBe(200);
    const sure = await signInAs({ email: person.email, sub, amr: ['mfa'] });
    expect((await sure.visit.ask(orders)).status).toBe(200);
  });

  test('the proof of identity is as old as the provider says, and of unknown age without its word', async () => {
    const sub = newSub();
    const now = Math.floor(Date.now() / 1000);
    provider.forge = (claims, sign) => sign({ ...claims, auth_time: now - 3600 });
    await signInAs({ email: person.email, sub });
    expect((await sessionOf(person)).authenticated_at).toEqual(new Date((now - 3600) * 1000));
    provider.forge = (claims, sign) => sign({ ...claims, auth_time: now + 3600 });
    await signInAs({ email: person.email, sub });
    expect((await sessionOf(person)).authenticated_at.getTime()).toBeLessThanOrEqual(Date.now());
    provider.forge = ({ auth_time: _, ...claims }, sign) => sign(claims);
    await signInAs({ email: person.email, sub });
    expect((await sessionOf(person)).authenticated_at).toBeNull();
  });

  test('returns to the page that was open, on the portal only', async () => {
    const sub = newSub();
    const returnsTo = async (path: string) => {
      provider.account = { sub, email: person.email, email_verified: true };
      const visit = openIdentityVisit(portal);
      const callback = await visit.atProvider(await visit.start({ path }));
      return (await visit.ask(callback.slice(portal.url.length))).headers.get('location');
    };
    // Longer once it is encoded.
    expect(await returnsTo(`/${'ا'.repeat(400)}`)).toBe(`${portal.url}/`);
    expect(await returnsTo('/accounts/7/receipts?search=Aisha')).toBe(`${portal.url}/accounts/7/receipts`);
    for (const path of [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example/',
      '@evil.example',
      '/.//evil.example',
    ])
      expect(new URL((await returnsTo(path)) ?? '').host).toBe(new URL(portal.url).host);
  });

  test('the password still works, and a new one keeps the binding', async () => {
    const sub = newSub();
    await signInAs({ email: person.email, sub });
    const client = await signIn(portal, person);
    const body = { current_password: person.password, new_password: randomBytes(12).toString('hex') };
    expect((await client.post('/password', body)).status).toBe(204);
    expect(await bindingsOf(person)).toHaveLength(1);
  });

  test('two first sign-ins at once bind one identity', async () => {
    const visits = [openIdentityVisit(portal), openIdentityVisit(portal)];
    const callbacks: string[] = [];
    for (const visit of visits) callbacks.push(await callbackOf(visit, person.email));
    const replies = await Promise.all(visits.map((visit, at) => visit.ask(callbacks[at] ?? '')));
    expect(replies.map((reply) => locationOf(portal, reply)).toSorted()).toEqual([
      '/',
      '/?identity_provider=bound_otherwise',
    ]);
    expect(await bindingsOf(person)).toHaveLength(1);
  });
});

describe('nobody signs in who', () => {
  test('is no user, even with an open invitation', async () => {
    const email = `${newSub()}@example.test`;
    await createInvitation(db, { email, role: 'operator', accountId: null }, 'test', 3_600_000);
    expect(await whereTo({ email })).toBe('/?identity_provider=unknown');
    expect(await findUser(db, email)).toBeNull();
    const [event] = await knex('audit_events').where({ action: 'sign_in_failed' }).orderBy('event_id', 'desc');
    expect([event.subject, event.details]).toEqual([
      expect.stringMatching(/^email:[0-9a-f]{16}$/),
      { method: 'identity_provider', refused: 'unknown' },
    ]);
  });

  test('has an address that the provider did not verify', async () => {
    expect(await whereTo({ email: person.email, email_verified: false })).toBe('/?identity_provider=unverified');
    provider.forge = (claims, sign) => sign({ ...claims, email_verified: 'true' });
    expect(await whereTo({ email: person.email })).toBe('/?identity_provider=unverified');
    provider.forge = ({ email_verified: _, ...claims }, sign) => sign(claims);
    expect(await whereTo({ email: person.email })).toBe('/?identity_provider=unverified');
    expect(await auditOf(person)).toEqual(Array(3).fill(['sign_in_failed', 'unverified']));
  });

  test('has an address whose letters become those of another one in lower case', async () => {
    const user = { email: `mark-${newSub()}@example.test`, role: 'operator' as const, accountId: null };
    const token = await createInvitation(db, user, 'test', 3_600_000);
    await acceptInvitation(db, token, 'Mark', 'no hash');
    const email = user.email.replace('k', '\u212A');
    expect(email.toLowerCase()).toBe(user.email);
    expect(await whereTo({ email })).toBe('/?identity_provider=unverified');
    expect(await bindingsOf(user)).toEqual([]);
    // Capital letters of ASCII are the same address.
    expect(await whereTo({ email: user.email.toUpperCase() })).toBe('/');
  });

  test('has an address at a domain for which the provider does not vouch', async () => {
    const email = `${newSub()}@elsewhere.test`;
    const token = await createInvitation(db, { email, role: 'operator', accountId: null }, 'test', 3_600_000);
    await acceptInvitation(db, token, 'Other', 'no hash');
    expect(await whereTo({ email })).toBe('/?identity_provider=domain');
    expect(await whereTo({ email: email.replace('elsewhere', 'sub.example') })).toBe('/?identity_provider=domain');
  });

  test('was bound while the provider still vouched for their domain', async () => {
    const email = `${newSub()}@elsewhere.test`;
    const sub = newSub();
    const token = await createInvitation(db, { email, role: 'operator', accountId: null }, 'test', 3_600_000);
    await acceptInvitation(db, token, 'Other', 'no hash');
    const user = await findUser(db, email);
    await knex('user_credentials').insert({
      id: sub,
      user_id: user?.user_id,
      provider_id: provider.issuer,
      provider_account_id: sub,
    });
    expect(await whereTo({ email: 'renamed@example.test', sub })).toBe('/?identity_provider=domain');
  });

  test('has another account of the provider, until an operator unbinds the user or makes a new link', async () => {
    await signInAs({ email: person.email });
    expect(await whereTo({ email: person.email })).toBe('/?identity_provider=bound_otherwise');
    await unbindUser(db, person.email, 'test');
    expect(await sessionOf(person)).toBeUndefined();
    expect(await whereTo({ email: person.email })).toBe('/');
    expect(await whereTo({ email: person.email })).toBe('/?identity_provider=bound_otherwise');
    const invitation = { email: person.email, role: 'account_holder', accountId: person.accountId } as const;
    await acceptInvitation(db, await createInvitation(db, invitation, 'test', 3_600_000), 'Same', 'no hash');
    expect(await whereTo({ email: person.email })).toBe('/');
  });

  test('cancels at the provider', async () => {
    expect(await openIdentityVisit(portal).signIn()).toBe('/?identity_provider=cancelled');
  });
});
