import { beforeAll, describe, expect, test } from '@jest/globals';
import { MEMBER_ROLES } from '@orders/database/users/memberships.ts';
import { ROUTES, type RouteRule } from '../../apps/portal/src/permissions.ts';
import { openSeed } from '../cli/seed.ts';
import { createPerson, openPortalClient, type PortalClient, signIn } from '../harness/people.ts';
import { useStack } from '../harness/use-stack.ts';

let accountId: number;
const clients = new Map<string, PortalClient>();

/** Written out again, so that an edit of the permissions alone fails. */
const PERMISSIONS: Record<string, string[]> = {
  viewer: ['read'],
  reviewer: ['read', 'review'],
  developer: ['read', 'develop'],
  owner: ['read', 'review', 'develop', 'manage'],
  operator: ['read', 'review', 'develop', 'manage', 'operate'],
  'member of another account': [],
  nobody: [],
};
const WHO = Object.keys(PERMISSIONS);

const REFUSALS = [
  'not_signed_in',
  'not_found',
  'account_not_found',
  'not_permitted',
  'account_suspended',
  'authentication_required',
  'second_factor_required',
];

const { stack, knex, portal } = useStack({ portal: true });

beforeAll(async () => {
  accountId = (await stack.account({ signing: true })).id;
  for (const role of MEMBER_ROLES) clients.set(role, await signIn(portal, await createPerson(stack, accountId, role)));
  clients.set('operator', await signIn(portal, await createPerson(stack, null)));
  const other = await createPerson(stack);
  clients.set('member of another account', await signIn(portal, other));
  clients.set('nobody', openPortalClient(portal));
});

const suspend = (suspended: boolean) =>
  knex('accounts')
    .where({ account_id: accountId })
    .update({ suspended_at: suspended ? new Date() : null });
const authenticated = (at: Date | null) => knex('user_sessions').update({ authenticated_at: at });

/** With ids of nothing and without a body, so that a request which is let through changes hardly anything. */
async function refusalOf(who: string, { method, path }: RouteRule): Promise<string | null> {
  const url = path
    .replace(':accountId', String(accountId))
    .replace(':receiptId', '00000000-0000-4000-8000-000000000000')
    .replace(/:\w+/g, '999999999');
  const client = clients.get(who) as PortalClient;
  const { body } = await (method === 'get' || method === 'delete' ? client[method](url) : client[method](url, {}));
  // Below an account, not_found is the reply about an id of nothing; below the other path, that there is no identity provider.
  const isAllowed = body?.code === 'not_found' && /^\/(accounts|session\/oidc)\//.test(path);
  return REFUSALS.includes(body?.code) && !isAllowed ? body.code : null;
}

function expectedOf(who: string, rule: RouteRule, state: { suspended?: boolean; stale?: boolean } = {}): string | null {
  if (rule.who === 'public') return null;
  if (who === 'nobody') return 'not_signed_in';
  const stale = rule.recent && state.stale ? 'authentication_required' : null;
  if (rule.who === 'session') return stale;
  const isMember = MEMBER_ROLES.some((role) => role === who);
  if (!rule.path.startsWith('/accounts/')) return who === 'operator' ? stale : 'not_found';
  if (!isMember && who !== 'operator') return 'account_not_found';
  const may = (permissions: string[]) => permissions.some((permission) => rule.who.includes(permission as never));
  if (!may(PERMISSIONS[who] as string[])) return 'not_permitted';
  if (state.suspended && isMember && !may(['read'])) return 'account_suspended';
  // Nobody sends orders to a suspended account.
  if (state.suspended && /\/(test-orders|uploads\/orders)$/.test(rule.path)) return 'account_suspended';
  return stale;
}

/** Signing out would end the session of the tests. */
const rules = ROUTES.filter(({ method, path }) => !(method === 'delete' && path === '/session'));
const nameOf = ({ method, path }: RouteRule) => `${method} ${path}`;

async function expectTable(who: string, state: { suspended?: boolean; stale?: boolean } = {}): Promise<void> {
  if (!state.stale) await authenticated(new Date());
  const expected = rules.map((rule) => [nameOf(rule), expectedOf(who, rule, state)]);
  const seen: unknown[] = [];
  for (const rule of rules) seen.push([nameOf(rule), await refusalOf(who, rule)]);
  expect(seen).toEqual(expected);
}

describe('each route is refused to everybody whom the table does not name', () => {
  test.each(WHO)('%s', (who) => expectTable(who));

  test.each(WHO)('%s, of a suspended account', async (who) => {
    await suspend(true);
    try {
      await expectTable(who, { suspended: true });
    } finally {
      await suspend(false);
    }
  });

  test.each([
    ...WHO.map((who) => ['eleven minutes ago', who] as const),
    ['at an unknown time', 'owner'],
    ['at an unknown time', 'operator'],
  ] as const)('who proved who they are %s: %s', async (when, who) => {
    await authenticated(when === 'at an unknown time' ? null : new Date(Date.now() - 11 * 60_000));
    try {
      await expectTable(who, { stale: true });
    } finally {
      await authenticated(new Date());
    }
  });
});

test('routes that give or change access require a recent proof', () => {
  expect(rules.filter(({ recent }) => recent).map(nameOf)).toEqual([
    'post /second-factors/passkeys/options',
    'post /second-factors/passkeys',
    'delete /second-factors/passkeys/:passkeyId',
    'post /second-factors/totp',
    'post /second-factors/totp/verify',
    'delete /second-factors/totp',
    'post /second-factors/recovery-codes',
    'put /accounts/:accountId/second-factor',
    'post /accounts/:accountId/users',
    'patch /accounts/:accountId/users/:userId',
    'delete /accounts/:accountId/users/:userId',
    'post /accounts/:accountId/invitations/:invitationId/again',
    'delete /accounts/:accountId/invitations/:invitationId',
    'post /accounts/:accountId/keys',
    'patch /accounts/:accountId/keys/:keyId',
    'post /accounts/:accountId/keys/:keyId/replace',
    'post /accounts/:accountId/keys/:keyId/revoke',
    'put /accounts/:accountId/signing/signed-only',
    'post /accounts/:accountId/signing/reveal',
    'post /accounts/:accountId/signing/rotate',
    'post /accounts/:accountId/sources',
    'post /accounts/:accountId/sources/:number/secret',
    'post /accounts/:accountId/sources/:number/replace-url',
    'put /accounts/:accountId/sources/:number/id-prefix',
    'delete /accounts/:accountId/sources/:number',
    'put /accounts/:accountId/sources/:number/mapping',
    'post /accounts/:accountId/endpoints',
    'post /accounts/:accountId/endpoints/:endpointId/secret',
    'post /accounts/:accountId/endpoints/:endpointId/pause',
    'post /accounts/:accountId/endpoints/:endpointId/enable',
    'delete /accounts/:accountId/endpoints/:endpointId',
    'post /accounts/:accountId/endpoints/:endpointId/resend',
    'post /operator/accounts',
    'patch /operator/accounts/:accountId',
    'post /operator/users',
    'delete /operator/users/:userId',
    'delete /operator/users/:userId/sessions',
    'delete /operator/users/:userId/second-factors',
    'post /operator/changes/:changeId/approve',
  ]);
});

test('every other change of an account needs more than the permission to read', () => {
  const forReaders = rules.filter(({ method, who }) => method !== 'get' && Array.isArray(who) && who.includes('read'));
  expect(forReaders.map(nameOf)).toEqual([
    'post /accounts/:accountId/views',
    'delete /accounts/:accountId/views/:viewId',
  ]);
});

test('in a suspended account a member confirms no order and makes no key; an operator still can', async () => {
  const { id } = await stack.account();
  const seed = openSeed(stack.database.url);
  await seed.written(id, { source_order_id: 'waits' });
  await seed.close();
  const [{ order_id }] = await knex('orders').where({ account_id: id }).select('order_id');
  await knex('accounts').where({ account_id: id }).update({ suspended_at: new Date() });
  const owner = await signIn(portal, await createPerson(stack, id));
  const confirm = (client: PortalClient) =>
    client.post(`/accounts/${id}/orders/review`, { order_ids: [Number(order_id)], to: 'confirmed' });
  const makeKey = (client: PortalClient) => client.post(`/accounts/${id}/keys`, { name: 'new' });
  for (const change of [confirm, makeKey]) {
    const { status, body } = await change(owner);
    expect([status, body.code]).toEqual([403, 'account_suspended']);
  }
  expect(await knex('orders').where({ account_id: id })).toMatchObject([{ review_state: 'needs_review' }]);
  expect(await knex('api_keys').where({ account_id: id })).toHaveLength(1);
  expect((await owner.get(`/accounts/${id}/orders`)).status).toBe(200);
  expect((await owner.get(`/accounts/${id}`)).body).toMatchObject({ suspended: true, permissions: ['read'] });
  expect((await owner.get('/session')).body.accounts).toMatchObject([{ suspended: true, permissions: ['read'] }]);
  // What the note above the page says about it.
  const move = async () => (await owner.get('/session')).body.accounts[0].move;
  expect(await move()).toBeNull();
  await knex('accounts').where({ account_id: id }).update({ moving_since: new Date() });
  expect(await move()).toBe('under_way');
  await knex('accounts').where({ account_id: id }).update({ moved_to: 'https://orders-2.example.com' });
  expect(await move()).toBe('done');
  await knex('accounts').where({ account_id: id }).update({ moving_since: null, moved_to: null });
  const operator = clients.get('operator') as PortalClient;
  expect((await confirm(operator)).status).toBe(200);
  expect((await makeKey(operator)).status).toBe(201);
});

test('a path is understood as Express does: in any case, encoded, and with a slash at its end', async () => {
  const viewer = clients.get('viewer') as PortalClient;
  const paths = [`/ACCOUNTS/${accountId}/Keys`, `/accounts/${accountId}/keys/`, `/accounts/%3${accountId % 10}/keys`];
  for (const path of paths) {
    const { body } = await viewer.post(path, { name: 'not mine' });
    expect([path, REFUSALS.includes(body.code)]).toEqual([path, true]);
  }
  expect((await viewer.get(`/accounts/${accountId}/nothing`)).body.code).toBe('not_found');
  expect((await viewer.get('/nothing')).body.code).toBe('not_found');
});
