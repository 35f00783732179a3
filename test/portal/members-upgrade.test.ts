import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { createInvitation, type MemberRole } from '@orders/database';
import type { Knex } from 'knex';
import * as usersAsMembers from '../../packages/database/src/migrations/044-users-as-members.ts';
import { createPerson, openPortalClient, signIn } from '../harness/people.ts';
import { type RunningPortal, type Stack, startStack } from '../harness/stack.ts';

/** Statements of the version without memberships, which runs beside this one during an upgrade. */
let stack: Stack;
let portal: RunningPortal;
let knex: Knex;

beforeAll(async () => {
  stack = await startStack('postgres');
  portal = await stack.portal();
  knex = stack.database.knex;
});

async function acceptAsBefore(token: string): Promise<boolean> {
  return knex.transaction(async (trx) => {
    const [invitation] = await trx('invitations')
      .where({ token_hash: createHash('sha256').update(token).digest() })
      .whereNull('accepted_at')
      .where('expires_at', '>', trx.fn.now())
      .update({ accepted_at: trx.fn.now() })
      .returning(['email', 'role', 'account_id']);
    if (!invitation) return false;
    await trx('users')
      .insert({ id: randomUUID(), email_verified: true, name: 'Before', ...invitation })
      .onConflict('email')
      .merge(['name', 'role', 'account_id']);
    return true;
  });
}

async function inviteAsBefore(email: string, accountId: number | null): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  const role = accountId === null ? 'operator' : 'account_holder';
  const token_hash = createHash('sha256').update(token).digest();
  const expires_at = knex.raw("now() + interval '1 h'");
  await knex('invitations').insert({ token_hash, email, role, account_id: accountId, invited_by: 'test', expires_at });
  return token;
}

const membershipsOf = (email: string) =>
  knex('memberships as m')
    .join('users as u', 'u.id', 'm.user_id')
    .where('u.email', email)
    .select('m.account_id', 'm.role');

test('a user of that version is an owner, and one who becomes an operator has no account', async () => {
  const { id } = await stack.account();
  expect(await acceptAsBefore(await inviteAsBefore('before@example.test', id))).toBe(true);
  expect(await membershipsOf('before@example.test')).toEqual([{ account_id: id, role: 'owner' }]);
  await acceptAsBefore(await inviteAsBefore('before@example.test', null));
  expect(await membershipsOf('before@example.test')).toEqual([]);
});

test('its invitation that this version accepts makes an owner, too', async () => {
  const { id } = await stack.account();
  const token = await inviteAsBefore('between@example.test', id);
  const accept = { token, name: 'Between', password: 'long enough to be good' };
  expect((await openPortalClient(portal).post('/invitations/accept', accept)).status).toBe(204);
  expect(await membershipsOf('between@example.test')).toEqual([{ account_id: id, role: 'owner' }]);
});

test.each(['viewer', 'reviewer', 'developer', 'owner'] as const)(
  'an invitation of this version as %s gives that role when that version accepts it',
  async (memberRole: MemberRole) => {
    const { id } = await stack.account();
    const invited = { email: `${memberRole}@example.test`, role: 'account_holder', accountId: id, memberRole } as const;
    expect(await acceptAsBefore(await createInvitation(knex, invited, 'test', 3_600_000))).toBe(true);
    expect(await membershipsOf(invited.email)).toEqual([{ account_id: id, role: memberRole }]);
    // And a new password leaves the role as it is.
    expect(await acceptAsBefore(await inviteAsBefore(invited.email, id))).toBe(true);
    expect(await membershipsOf(invited.email)).toEqual([{ account_id: id, role: memberRole }]);
  },
);

test("that version finds no owner's link, by which it would set the password of a user", async () => {
  const person = await createPerson(stack, (await stack.account()).id);
  const { id } = await stack.account();
  const invited = { email: person.email, role: 'account_holder', accountId: id, setsPassword: false } as const;
  expect(await acceptAsBefore(await createInvitation(knex, invited, 'test', 3_600_000))).toBe(false);
});

test('what that version removes has no rights left', async () => {
  const person = await createPerson(stack, (await stack.account()).id);
  const client = await signIn(portal, person);
  const { id: other } = await stack.account();
  const user = await knex('users').where({ email: person.email }).first('id');
  await knex('memberships').insert({ user_id: user.id, account_id: other, role: 'viewer' });
  await knex('users').where({ id: user.id }).delete();
  expect((await client.get(`/accounts/${other}`)).body.code).toBe('not_signed_in');
  expect(await knex('memberships').where({ user_id: user.id })).toEqual([]);
});

test('the migration makes everybody with an account its owner, and ends no session', async () => {
  const [user, operator] = [await createPerson(stack, (await stack.account()).id), await createPerson(stack, null)];
  const clients = [await signIn(portal, user), await signIn(portal, operator)];
  await knex.raw('drop trigger add_membership_of_user on users; drop function add_membership_of_user()');
  await knex('memberships').delete();
  await knex.raw(usersAsMembers.up);
  expect(await membershipsOf(user.email)).toEqual([{ account_id: user.accountId, role: 'owner' }]);
  expect(await membershipsOf(operator.email)).toEqual([]);
  for (const client of clients) expect((await client.get('/session')).status).toBe(200);
  expect((await clients[0]?.get(`/accounts/${user.accountId}/users`))?.status).toBe(200);
});
