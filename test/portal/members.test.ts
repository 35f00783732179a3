import { describe, expect, test } from '@jest/globals';
import { listAudit } from '@orders/database/audit.ts';
import { createInvitation, findInvitation } from '@orders/database/users/invitations.ts';
import type { MemberRole } from '@orders/database/users/memberships.ts';
import { hold, whoWait } from '../harness/barriers.ts';
import { createPerson, openPortalClient, type PortalClient, signIn, type TestPerson } from '../harness/people.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, db, portal } = useStack({ portal: true });

interface Signed extends TestPerson {
  client: PortalClient;
  userId: string;
  /** The path of the account. */
  at: string;
}

async function member(accountId: number, role: MemberRole = 'owner'): Promise<Signed> {
  const person = await createPerson(stack, accountId, role);
  const user = await knex('users').where({ email: person.email }).first('id');
  return { ...person, client: await signIn(portal, person), userId: user.id, at: `/accounts/${accountId}` };
}

const newAccount = async () => (await stack.account()).id;
const addTo = (accountId: number, { userId }: Signed, role: MemberRole) =>
  knex('memberships').insert({ account_id: accountId, user_id: userId, role });
const rolesIn = async (accountId: number) =>
  Object.fromEntries(
    (await knex('memberships').where({ account_id: accountId })).map(({ user_id, role }) => [user_id, role]),
  );
const changesOf = async (accountId: number) =>
  (await listAudit(db, { accountId, limit: 100 }))
    .filter(({ action }) => !action.startsWith('signed_'))
    .map(({ actor, action, subject, details }) => ({ actor, action, subject, details }))
    .reverse();

const tokenOf = ({ body }: { body: { link: string } }) => body.link.split('#')[1] as string;
const PASSWORD = 'long enough to be good';

describe('an owner', () => {
  test('lists the members of the own account, and nobody else', async () => {
    const owner = await member(await newAccount());
    await member(await newAccount());
    const viewer = await member(owner.accountId as number, 'viewer');
    const { body } = await owner.client.get(`${owner.at}/users`);
    expect(body.next).toBeNull();
    expect(body.users).toHaveLength(2);
    expect(body.users).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ user_id: owner.userId, email: owner.email, role: 'owner' }),
        expect.objectContaining({ user_id: viewer.userId, email: viewer.email, role: 'viewer' }),
      ]),
    );
    const [first, second] = body.users.map(({ email }: { email: string }) => email);
    expect((await owner.client.get(`${owner.at}/users?after=${first}`)).body.users).toMatchObject([{ email: second }]);
  });

  test('invites somebody, who sets a password and has the role', async () => {
    const owner = await member(await newAccount());
    const invited = await owner.client.post(`${owner.at}/users`, { email: 'Lina@example.test', role: 'reviewer' });
    expect([invited.status, invited.body]).toEqual([
      201,
      {
        email: 'lina@example.test',
        link: expect.stringContaining(`${portal.url}/invitation#`),
        expires_at: expect.any(String),
        sets_new_password: false,
      },
    ]);
    const newcomer = openPortalClient(portal);
    const token = tokenOf(invited);
    expect((await newcomer.post('/invitations/lookup', { token })).body).toMatchObject({
      member_role: 'reviewer',
      name: null,
      sign_in_required: false,
    });
    expect((await newcomer.post('/invitations/accept', { token, name: 'Lina', password: PASSWORD })).status).toBe(204);
    expect((await newcomer.get('/session')).body.accounts).toEqual([
      {
        account_id: owner.accountId,
        name: expect.any(String),
        role: 'reviewer',
        suspended: false,
        move: null,
        permissions: ['read', 'review'],
        test_of: null,
      },
    ]);
    const subject = 'user:lina@example.test';
    expect(await changesOf(owner.accountId as number)).toEqual([
      { actor: owner.email, action: 'user_invited', subject, details: { role: 'reviewer', sets_new_password: false } },
      { actor: 'lina@example.test', action: 'invitation_accepted', subject, details: { role: 'reviewer' } },
    ]);
    const again = await owner.client.post(`${owner.at}/users`, { email: 'lina@example.test', role: 'viewer' });
    expect(again.body.code).toBe('already_member');
  });

  test('sees who is invited, makes a new link, and withdraws it; both end the earlier link', async () => {
    const owner = await member(await newAccount());
    const stranger = await member(await newAccount());
    const [at, accountId] = [`${owner.at}/invitations`, owner.accountId as number];
    const email = `invited-${accountId}@example.test`;
    const first = tokenOf(await owner.client.post(`${owner.at}/users`, { email, role: 'developer' }));
    // The link of a member sets a new password; it is no invitation.
    const link = { email: owner.email, role: 'account_holder', accountId, memberRole: 'owner' } as const;
    await createInvitation(db, link, 'operator@example.test', 60_000);
    const pendingOf = async () => (await owner.client.get(at)).body.invitations;
    expect(await pendingOf()).toEqual([
      {
        invitation_id: expect.any(Number),
        email,
        role: 'developer',
        invited_by: owner.email,
        created_at: expect.any(String),
        expires_at: expect.any(String),
      },
    ]);
    const [{ invitation_id: firstId }] = await pendingOf();
    expect((await stranger.client.get(at)).body.code).toBe('account_not_found');
    const elsewhere = `${stranger.at}/invitations/${firstId}`;
    expect((await stranger.client.delete(elsewhere)).body.code).toBe('invitation_not_found');
    expect((await stranger.client.post(`${elsewhere}/again`)).body.code).toBe('invitation_not_found');

    const again = await owner.client.post(`${at}/${firstId}/again`);
    expect([again.status, again.body]).toMatchObject([201, { email, sets_new_password: false }]);
    const second = tokenOf(again);
    expect(await findInvitation(db, first)).toBeNull();
    expect(await findInvitation(db, second)).toMatchObject({ email, memberRole: 'developer' });
    const [{ invitation_id: secondId }] = await pendingOf();
    expect((await owner.client.post(`${at}/${firstId}/again`)).body.code).toBe('invitation_not_found');

    expect((await owner.client.delete(`${at}/${secondId}`)).status).toBe(204);
    expect(await findInvitation(db, second)).toBeNull();
    expect(await pendingOf()).toEqual([]);
    expect((await owner.client.delete(`${at}/${secondId}`)).body.code).toBe('invitation_not_found');
    const [invited, withdrawn] = ['user_invited', 'invitation_withdrawn'];
    const changes = await changesOf(accountId);
    expect(changes.map(({ action }) => action)).toEqual([invited, withdrawn, invited, withdrawn]);
    expect(changes.at(-1)).toEqual({
      actor: owner.email,
      action: withdrawn,
      subject: `user:${email}`,
      details: { role: 'developer' },
    });
  });

  test('does not see an invitation that has expired or was accepted', async () => {
    const owner = await member(await newAccount());
    const accountId = owner.accountId as number;
    for (const email of [`late-${accountId}@example.test`, `joined-${accountId}@example.test`]) {
      const token = tokenOf(await owner.client.post(`${owner.at}/users`, { email, role: 'viewer' }));
      if (email.startsWith('late')) await knex('invitations').where({ email }).update({ expires_at: new Date() });
      else await openPortalClient(portal).post('/invitations/accept', { token, name: 'Omar', password: PASSWORD });
    }
    expect((await owner.client.get(`${owner.at}/invitations`)).body.invitations).toEqual([]);
  });

  test.each([
    [{ email: 'a@example.test' }],
    [{ email: 'a@example.test', role: 'operator' }],
    [{ email: 'a', role: 'viewer' }],
  ])('cannot invite with %j', async (body) => {
    const owner = await member(await newAccount());
    expect((await owner.client.post(`${owner.at}/users`, body)).body.code).toBe('invalid_request');
  });

  test('changes the role of a member, which applies to the next request', async () => {
    const owner = await member(await newAccount());
    const other = await member(owner.accountId as number, 'viewer');
    const at = `${owner.at}/users/${other.userId}`;
    expect((await other.client.post(`${owner.at}/keys`, { name: 'x' })).body.code).toBe('not_permitted');
    const { status, body } = await owner.client.patch(at, { role: 'developer' });
    expect([status, body.role]).toEqual([200, 'developer']);
    expect((await other.client.post(`${owner.at}/keys`, { name: 'x' })).status).toBe(201);
    expect((await owner.client.patch(at, { role: 'viewer' })).status).toBe(200);
    expect((await other.client.post(`${owner.at}/keys`, { name: 'x' })).body.code).toBe('not_permitted');
    // The same role again is no change.
    expect((await owner.client.patch(at, { role: 'viewer' })).status).toBe(200);
    expect((await owner.client.patch(at, { role: 'operator' })).body.code).toBe('invalid_request');
    const changes = (await changesOf(owner.accountId as number)).filter(({ action }) => action === 'user_role_changed');
    expect(changes.map(({ actor, details }) => [actor, details])).toEqual([
      [owner.email, { from: 'viewer', to: 'developer' }],
      [owner.email, { from: 'developer', to: 'viewer' }],
    ]);
  });

  test('removes a member, who has no other account and so cannot sign in again', async () => {
    const owner = await member(await newAccount());
    const other = await member(owner.accountId as number, 'reviewer');
    expect((await owner.client.delete(`${owner.at}/users/${other.userId}`)).status).toBe(204);
    expect((await other.client.get(owner.at)).body.code).toBe('not_signed_in');
    const { email, password } = other;
    expect((await other.client.post('/session', { email, password })).body.code).toBe('wrong_credentials');
    expect((await owner.client.delete(`${owner.at}/users/${other.userId}`)).body.code).toBe('user_not_found');
    expect((await changesOf(owner.accountId as number)).at(-1)).toMatchObject({
      actor: owner.email,
      action: 'user_removed',
      subject: `user:${email}`,
      details: { role: 'reviewer' },
    });
  });

  test.each([
    ['is removed', (at: string, by: PortalClient) => by.delete(at)],
    ['gets another role', (at: string, by: PortalClient) => by.patch(at, { role: 'developer' })],
  ])('who %s leaves no links to the account that work', async (_, end) => {
    const owner = await member(await newAccount());
    const leaver = await member(owner.accountId as number);
    const elsewhere = await newAccount();
    await addTo(elsewhere, leaver, 'owner');
    const linkOf = async ({ client }: Signed, accountId: number | null, email: string) =>
      tokenOf(await client.post(`/accounts/${accountId}/users`, { email, role: 'owner' }));
    const link = await linkOf(leaver, owner.accountId, 'second-self@example.test');
    const others = [
      await linkOf(owner, owner.accountId, 'guest@example.test'),
      await linkOf(leaver, elsewhere, 'guest@example.test'),
    ];
    const looked = async (token: string) =>
      (await openPortalClient(portal).post('/invitations/lookup', { token })).status;
    expect(await looked(link)).toBe(200);
    expect((await end(`${owner.at}/users/${leaver.userId}`, owner.client)).status).toBeLessThan(300);
    const accepted = { token: link, name: 'X', password: PASSWORD };
    expect((await openPortalClient(portal).post('/invitations/accept', accepted)).body.code).toBe(
      'invitation_not_found',
    );
    expect(await Promise.all(others.map(looked))).toEqual([200, 200]);
  });

  test('who gets the same role again keeps the links', async () => {
    const owner = await member(await newAccount());
    const { body } = await owner.client.post(`${owner.at}/users`, { email: 'kept@example.test', role: 'viewer' });
    const same = await owner.client.patch(`${owner.at}/users/${owner.userId}`, { role: 'owner' });
    expect(same.status).toBe(200);
    const token = tokenOf({ body });
    expect((await openPortalClient(portal).post('/invitations/lookup', { token })).status).toBe(200);
  });

  test('does not reach users of other accounts', async () => {
    const owner = await member(await newAccount());
    const other = await member(await newAccount(), 'viewer');
    for (const id of [other.userId, 'unknown', 'a%00b']) {
      expect((await owner.client.patch(`${owner.at}/users/${id}`, { role: 'owner' })).body.code).toBe('user_not_found');
      expect((await owner.client.delete(`${owner.at}/users/${id}`)).body.code).toBe('user_not_found');
    }
    expect((await owner.client.get(`${other.at}/users`)).body.code).toBe('account_not_found');
    expect(await rolesIn(other.accountId as number)).toEqual({ [other.userId]: 'viewer' });
  });

  test('who is the last one stays, unless an operator says otherwise', async () => {
    const owner = await member(await newAccount());
    const own = `${owner.at}/users/${owner.userId}`;
    expect((await owner.client.patch(own, { role: 'viewer' })).body.code).toBe('last_owner');
    expect((await owner.client.delete(own)).body.code).toBe('last_owner');
    expect(await rolesIn(owner.accountId as number)).toEqual({ [owner.userId]: 'owner' });
    const operator = await signIn(portal, await createPerson(stack, null));
    expect((await operator.patch(own, { role: 'viewer' })).status).toBe(200);
    expect((await owner.client.get(`${owner.at}/users`)).body.code).toBe('not_permitted');
    expect((await operator.delete(own)).status).toBe(204);
  });

  test('and another owner cannot remove each other at once', async () => {
    const one = await member(await newAccount());
    const two = await member(one.accountId as number);
    const held = await hold(knex, `select from accounts where account_id = ${one.accountId} for no key update`);
    const removals = [
      one.client.delete(`${one.at}/users/${two.userId}`),
      two.client.delete(`${one.at}/users/${one.userId}`),
    ];
    await Promise.all([whoWait(knex, 1, 'transactionid'), whoWait(knex, 1, 'tuple')]);
    await held.release();
    const replies = await Promise.all(removals);
    expect(replies.filter(({ status }) => status === 204)).toHaveLength(1);
    expect(Object.values(await rolesIn(one.accountId as number))).toEqual(['owner']);
  });
});

describe('somebody who is a user of another account', () => {
  test('is invited by a link that sets no password, and signs in to accept it', async () => {
    const owner = await member(await newAccount());
    const person = await member(await newAccount());
    const invited = await owner.client.post(`${owner.at}/users`, { email: person.email, role: 'developer' });
    expect([invited.status, invited.body.sets_new_password]).toEqual([201, false]);
    const token = tokenOf(invited);
    // The owner who made the link opens it: it sets no password and shows no name.
    const intruder = openPortalClient(portal);
    const looked = (await intruder.post('/invitations/lookup', { token })).body;
    expect(looked).toMatchObject({ name: null, sign_in_required: true, member_role: 'developer' });
    const accept = { token, name: 'Mallory', password: PASSWORD };
    expect((await intruder.post('/invitations/accept', accept)).body.code).toBe('sign_in_to_accept');
    expect((await intruder.post('/invitations/join', { token })).body.code).toBe('not_signed_in');
    expect((await owner.client.post('/invitations/join', { token })).body.code).toBe('invitation_of_other_user');
    expect((await person.client.get('/session')).body.accounts).toHaveLength(1);

    const joined = await person.client.post('/invitations/join', { token });
    expect([joined.status, joined.body]).toEqual([200, { account_id: owner.accountId }]);
    expect((await person.client.get('/session')).body.accounts).toMatchObject([
      { account_id: owner.accountId, role: 'developer' },
      { account_id: person.accountId, role: 'owner' },
    ]);
    expect((await person.client.post('/invitations/join', { token })).body.code).toBe('invitation_not_found');
    const { email, password } = person;
    expect((await openPortalClient(portal).post('/session', { email, password })).status).toBe(204);
  });

  test('keeps the password if they become a user between the link and its use', async () => {
    const [one, two] = [await member(await newAccount()), await member(await newAccount())];
    const email = 'twice@example.test';
    const [first, second] = [
      await one.client.post(`${one.at}/users`, { email, role: 'viewer' }),
      await two.client.post(`${two.at}/users`, { email, role: 'viewer' }),
    ];
    const client = openPortalClient(portal);
    const accept = (token: string, password: string) =>
      client.post('/invitations/accept', { token, name: 'Twice', password });
    expect((await accept(tokenOf(first), PASSWORD)).status).toBe(204);
    expect((await accept(tokenOf(second), 'another one of the intruder')).body.code).toBe('sign_in_to_accept');
    expect((await client.post('/invitations/join', { token: tokenOf(second) })).status).toBe(200);
    expect((await openPortalClient(portal).post('/session', { email, password: PASSWORD })).status).toBe(204);
  });

  test('gets no second link of the same account that works beside the first one', async () => {
    const owner = await member(await newAccount());
    const invite = () => owner.client.post(`${owner.at}/users`, { email: 'again@example.test', role: 'viewer' });
    const [first, second] = [tokenOf(await invite()), tokenOf(await invite())];
    const look = (token: string) => openPortalClient(portal).post('/invitations/lookup', { token });
    expect((await look(first)).body.code).toBe('invitation_not_found');
    expect((await look(second)).status).toBe(200);
  });

  test('is an operator, and becomes no member', async () => {
    const owner = await member(await newAccount());
    const operator = await createPerson(stack, null);
    const invited = await owner.client.post(`${owner.at}/users`, { email: operator.email, role: 'owner' });
    const client = await signIn(portal, operator);
    expect((await client.post('/invitations/join', { token: tokenOf(invited) })).body.code).toBe('user_elsewhere');
    const accept = { token: tokenOf(invited), name: 'Mallory', password: PASSWORD };
    expect((await openPortalClient(portal).post('/invitations/accept', accept)).body.code).toBe('sign_in_to_accept');
    expect((await client.get('/session')).body).toMatchObject({ role: 'operator', accounts: [] });
  });

  test('is added by an operator in the same way; for a member of the account, the link sets a new password', async () => {
    const person = await member(await newAccount());
    const other = await newAccount();
    const operator = await signIn(portal, await createPerson(stack, null));
    const invite = (account_id: number, role: string) =>
      operator.post('/operator/users', { email: person.email, account_id, role });
    const added = await invite(other, 'viewer');
    expect([added.status, added.body.sets_new_password]).toEqual([201, false]);
    expect((await person.client.post('/invitations/join', { token: tokenOf(added) })).status).toBe(200);
    expect((await invite(other, 'owner')).body.code).toBe('already_member');
    const reset = await invite(other, 'viewer');
    expect([reset.status, reset.body.sets_new_password]).toEqual([201, true]);
    const accept = { token: tokenOf(reset), name: 'Renamed', password: PASSWORD };
    expect((await openPortalClient(portal).post('/invitations/accept', accept)).status).toBe(204);
    expect((await person.client.get('/session')).body.code).toBe('not_signed_in');
    const again = await signIn(portal, { ...person, password: PASSWORD });
    expect((await again.get('/session')).body.accounts).toMatchObject([{ role: 'owner' }, { role: 'viewer' }]);
  });
});

describe('a person with two accounts', () => {
  async function withTwo(): Promise<{ person: Signed; first: number; second: number }> {
    const [first, second] = [await newAccount(), await newAccount()];
    const person = await member(first, 'owner');
    await addTo(second, person, 'viewer');
    return { person, first, second };
  }

  test('has in each the role of that account', async () => {
    const { person, first, second } = await withTwo();
    expect((await person.client.get(`/accounts/${first}`)).body.permissions).toContain('manage');
    expect((await person.client.get(`/accounts/${second}`)).body.permissions).toEqual(['read']);
    expect((await person.client.post(`/accounts/${first}/keys`, { name: 'x' })).status).toBe(201);
    expect((await person.client.post(`/accounts/${second}/keys`, { name: 'x' })).body.code).toBe('not_permitted');
    await knex('accounts').where({ account_id: first }).update({ suspended_at: new Date() });
    expect((await person.client.post(`/accounts/${first}/keys`, { name: 'x' })).body.code).toBe('account_suspended');
    expect((await person.client.get(`/accounts/${second}`)).body.suspended).toBe(false);
  });

  test('who leaves one keeps the other, and the session', async () => {
    const { person, first, second } = await withTwo();
    const owner = await member(first);
    expect((await owner.client.delete(`/accounts/${first}/users/${person.userId}`)).status).toBe(204);
    expect((await person.client.get(`/accounts/${first}`)).body.code).toBe('account_not_found');
    expect((await person.client.get(`/accounts/${second}`)).status).toBe(200);
  });

  test('is seen to sign in and out by the owners of both', async () => {
    const { person, first, second } = await withTwo();
    const operator = await signIn(portal, await createPerson(stack, null));
    const session = await signIn(portal, person);
    await session.delete('/session');
    const { email } = person;
    await openPortalClient(portal).post('/session', { email, password: 'not this one' });
    expect((await operator.delete(`/operator/users/${person.userId}/sessions`)).status).toBe(204);
    const actions = async (accountId: number) =>
      (await listAudit(db, { accountId, subject: `user:${email}`, limit: 4 })).map(({ action }) => action).reverse();
    const all = ['signed_in', 'signed_out', 'sign_in_failed', 'sessions_ended'];
    expect([await actions(first), await actions(second)]).toEqual([all, all]);
  });
});
