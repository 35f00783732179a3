import { beforeEach, describe, expect, test } from '@jest/globals';
import { createInvitation } from '@orders/database/users/invitations.ts';
import { createPerson, openPortalClient, type PortalClient, signIn, type TestPerson } from '../harness/people.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, db, portal } = useStack({ stack: 'each test', portal: true });
let requester: Operator;

interface Operator extends TestPerson {
  client: PortalClient;
  userId: string;
}

async function newOperator(): Promise<Operator> {
  const person = await createPerson(stack, null);
  const { id } = await knex('users').where({ email: person.email }).first('id');
  return { ...person, userId: id, client: await signIn(portal, person) };
}

beforeEach(async () => {
  requester = await newOperator();
});

const PASSWORD = 'long enough to be good';
const tokenOf = ({ body }: { body: { link: string } }) => body.link.split('#')[1] as string;
const changesOf = async ({ client }: Operator) => (await client.get('/operator/changes')).body.changes;
const invite = ({ client }: Operator, email: string) => client.post('/operator/users', { email, account_id: null });
const approve = ({ client }: Operator, id: number) => client.post(`/operator/changes/${id}/approve`);
const accept = (token: string) =>
  openPortalClient(portal).post('/invitations/accept', { token, name: 'Newcomer', password: PASSWORD });
const auditOf = async (email: string) =>
  (
    await knex('audit_events')
      .where({ subject: `user:${email}` })
      .orderBy('event_id')
  )
    .filter(({ action }) => action !== 'signed_in')
    .map(({ actor, action }) => [actor, action]);

describe('without another operator', () => {
  test('an invitation applies at once', async () => {
    const invited = await invite(requester, 'second@example.test');
    expect(invited.status).toBe(201);
    expect((await accept(tokenOf(invited))).status).toBe(204);
    expect(await changesOf(requester)).toEqual([]);
  });

  test('an operator cannot reset their own password: a stolen session would be enough', async () => {
    expect((await invite(requester, requester.email)).body.code).toBe('own_user');
    expect(await knex('invitations').where({ email: requester.email }).whereNull('accepted_at')).toEqual([]);
  });

  test('changes of members need no approval, also with another operator', async () => {
    await newOperator();
    const member = await createPerson(stack);
    const { id } = await knex('users').where({ email: member.email }).first('id');
    expect((await requester.client.delete(`/operator/users/${id}/sessions`)).status).toBe(204);
    expect((await requester.client.delete(`/operator/users/${id}`)).status).toBe(204);
  });
});

describe('a new operator', () => {
  test('gets a link only when another operator approves, and that operator sees it', async () => {
    const approver = await newOperator();
    const requested = await invite(requester, 'third@example.test');
    expect([requested.status, requested.body]).toEqual([
      202,
      {
        change_id: expect.any(Number),
        kind: 'invite',
        email: 'third@example.test',
        requested_by: requester.email,
        requested_at: expect.any(String),
        expires_at: expect.any(String),
      },
    ]);
    expect(await knex('invitations').where({ email: 'third@example.test' })).toEqual([]);
    const { change_id } = requested.body;
    expect(await changesOf(requester)).toMatchObject([{ change_id, own: true }]);
    expect(await changesOf(approver)).toMatchObject([{ change_id, own: false }]);

    expect((await approve(requester, change_id)).body.code).toBe('own_request');
    const approved = await approve(approver, change_id);
    expect([approved.status, approved.body.email]).toEqual([200, 'third@example.test']);
    expect((await approve(approver, change_id)).body.code).toBe('change_not_found');
    expect((await accept(tokenOf(approved))).status).toBe(204);
    expect(await auditOf('third@example.test')).toEqual([
      [requester.email, 'operator_change_requested'],
      [approver.email, 'operator_change_approved'],
      [requester.email, 'user_invited'],
      ['third@example.test', 'invitation_accepted'],
    ]);
  });

  test('is requested once, and the second request is no approval', async () => {
    const other = await newOperator();
    const first = await invite(requester, 'third@example.test');
    const again = await invite(other, 'third@example.test');
    expect([again.status, again.body]).toEqual([202, first.body]);
    expect((await approve(requester, first.body.change_id)).body.code).toBe('own_request');
    expect(await auditOf('third@example.test')).toHaveLength(1);
  });

  test('who became an operator meanwhile gets no new password by the approval', async () => {
    const approver = await newOperator();
    const { body } = await invite(requester, 'third@example.test');
    const invited = { email: 'third@example.test', role: 'operator', accountId: null } as const;
    const token = await createInvitation(db, invited, 'operator:command line', 3_600_000);
    expect((await accept(token)).status).toBe(204);
    expect((await approve(approver, body.change_id)).body.code).toBe('user_elsewhere');
  });

  test('cannot be approved if a member has the address meanwhile', async () => {
    const approver = await newOperator();
    const { body } = await invite(requester, 'third@example.test');
    const account_id = (await stack.account()).id;
    const invited = await requester.client.post('/operator/users', { email: 'third@example.test', account_id });
    expect((await accept(tokenOf(invited))).status).toBe(204);
    expect((await approve(approver, body.change_id)).body.code).toBe('user_elsewhere');
    expect(await changesOf(approver)).toHaveLength(1);
  });
});

describe('another operator', () => {
  test('approves a new password of their own, and gets the link', async () => {
    const target = await newOperator();
    const { status, body } = await invite(requester, target.email);
    expect([status, body.kind]).toEqual([202, 'reset_password']);
    expect((await target.client.get('/session')).status).toBe(200);
    const approved = await approve(target, body.change_id);
    expect(approved.body.sets_new_password).toBe(true);
    expect((await accept(tokenOf(approved))).status).toBe(204);
    expect((await target.client.get('/session')).body.code).toBe('not_signed_in');
  });

  test.each([
    ['is removed', ''],
    ['is signed out everywhere', '/sessions'],
  ])('%s only with an approval', async (_, path) => {
    const [target, third] = [await newOperator(), await newOperator()];
    const { status, body } = await requester.client.delete(`/operator/users/${target.userId}${path}`);
    expect([status, body.kind]).toEqual([202, path === '' ? 'remove' : 'end_sessions']);
    expect((await target.client.get('/session')).status).toBe(200);
    expect((await approve(third, body.change_id)).status).toBe(204);
    expect((await target.client.get('/session')).body.code).toBe('not_signed_in');
    const user = await knex('users').where({ id: target.userId });
    expect(user).toHaveLength(path === '' ? 0 : 1);
    expect((await auditOf(target.email)).slice(-2)).toEqual([
      [third.email, 'operator_change_approved'],
      [requester.email, path === '' ? 'user_removed' : 'sessions_ended'],
    ]);
  });

  test('is removed, and the links that they made stop working, also those that set passwords', async () => {
    const [target, third] = [await newOperator(), await newOperator()];
    const account_id = (await stack.account()).id;
    const owner = await createPerson(stack, account_id);
    const linkOf = async ({ client }: Operator, email: string) =>
      tokenOf(await client.post('/operator/users', { email, account_id }));
    const links = [await linkOf(target, owner.email), await linkOf(target, 'ghost@example.test')];
    const kept = await linkOf(third, 'guest@example.test');
    const { body } = await requester.client.delete(`/operator/users/${target.userId}`);
    expect((await approve(third, body.change_id)).status).toBe(204);
    for (const link of links) expect((await accept(link)).body.code).toBe('invitation_not_found');
    const { email, password } = owner;
    expect((await openPortalClient(portal).post('/session', { email, password })).status).toBe(204);
    expect((await accept(kept)).status).toBe(204);
  });

  test('declines, and the requester withdraws', async () => {
    const target = await newOperator();
    const remove = () => requester.client.delete(`/operator/users/${target.userId}`);
    for (const decider of [target, requester]) {
      const { body } = await remove();
      const path = `/operator/changes/${body.change_id}`;
      expect((await decider.client.delete(path)).status).toBe(204);
      expect((await approve(target, body.change_id)).body.code).toBe('change_not_found');
      expect((await decider.client.delete(path)).body.code).toBe('change_not_found');
    }
    expect((await target.client.get('/session')).status).toBe(200);
    expect(await auditOf(target.email)).toEqual([
      [requester.email, 'operator_change_requested'],
      [target.email, 'operator_change_declined'],
      [requester.email, 'operator_change_requested'],
      [requester.email, 'operator_change_withdrawn'],
    ]);
  });

  test('cannot approve after seven days, nor a request of somebody who was removed', async () => {
    const target = await newOperator();
    const remove = () => requester.client.delete(`/operator/users/${target.userId}`);
    const { body: late } = await remove();
    expect(Date.parse(late.expires_at) - Date.parse(late.requested_at)).toBe(7 * 86_400_000);
    await knex('operator_changes').update({ expires_at: knex.fn.now() });
    expect((await approve(target, late.change_id)).body.code).toBe('change_not_found');
    expect(await changesOf(target)).toEqual([]);
    const { body: again } = await remove();
    expect(again.change_id).not.toBe(late.change_id);
    await knex('users').where({ id: requester.userId }).delete();
    expect((await approve(target, again.change_id)).body.code).toBe('change_not_found');
  });
});

test('a new password for oneself needs another operator; ending own sessions does not', async () => {
  const other = await newOperator();
  const { status, body } = await invite(requester, requester.email);
  expect([status, body.kind]).toEqual([202, 'reset_password']);
  expect((await approve(requester, body.change_id)).body.code).toBe('own_request');
  expect((await approve(other, body.change_id)).status).toBe(200);
  expect((await requester.client.delete(`/operator/users/${requester.userId}/sessions`)).status).toBe(204);
  expect((await requester.client.get('/session')).body.code).toBe('not_signed_in');
});

test('of two concurrent approvals of one request, one succeeds', async () => {
  const [two, three] = [await newOperator(), await newOperator()];
  const { body } = await invite(requester, 'once@example.test');
  const replies = await Promise.all([approve(two, body.change_id), approve(three, body.change_id)]);
  expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 404]);
  for (const id of ['0', 'x', '99999999999'])
    expect((await two.client.post(`/operator/changes/${id}/approve`)).body.code).toBe('change_not_found');
});
