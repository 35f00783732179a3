import { beforeAll, describe, expect, test } from '@jest/globals';
import { acceptInvitation, findInvitation } from '@orders/database/users/invitations.ts';
import { PORTAL_URL, run, useCli } from './run.ts';

const cli = useCli();
let accountId: number;

beforeAll(async () => {
  accountId = (await cli.json('accounts', 'create', 'Corner Bakery')).account_id;
});

const tokenOf = ({ link }: { link: string }) => link.split('#')[1] as string;
const join = async (invitation: { link: string }) =>
  expect(await acceptInvitation(cli.db, tokenOf(invitation), 'Aisha', 'a hash')).not.toBeNull();
const auditOf = (email: string) =>
  cli
    .knex('audit_events')
    .where({ subject: `user:${email}` })
    .orderBy('event_id')
    .select('account_id', 'actor', 'action');

describe('invite', () => {
  test('prints a one-time link for an owner, its token where no server sees it, and keeps no token', async () => {
    const { stdout } = await cli.run('users', 'invite', 'Aisha@Example.com', '--account', 'Corner Bakery');
    const [link = ''] = stdout.match(/https:\S+/g) ?? [];
    expect(link).toMatch(new RegExp(`^${PORTAL_URL}/invitation#[\\w-]{43}$`));
    expect(stdout).toMatch(/^for +aisha@example\.com\nas +owner of account \d+\nworks until +\d{4}-/m);
    expect(stdout).toContain('lets them set a password');
    expect(await findInvitation(cli.db, tokenOf({ link }))).toEqual({
      email: 'aisha@example.com',
      role: 'account_holder',
      accountId,
      memberRole: 'owner',
      setsPassword: true,
      name: null,
    });
    const { rows } = await cli.knex.raw('select i::text as text from invitations i');
    expect(JSON.stringify(rows)).not.toContain(tokenOf({ link }));
    expect(await auditOf('aisha@example.com')).toEqual([
      { account_id: accountId, actor: expect.stringMatching(/^operator:/), action: 'user_invited' },
    ]);
  });

  test('--json gives the same; --expires bounds it', async () => {
    const invitation = await cli.json('users', 'invite', 'omar@example.com', '--operator', '--expires', '24h');
    expect(invitation).toEqual({
      email: 'omar@example.com',
      role: 'operator',
      account_id: null,
      member_role: null,
      link: expect.stringContaining(`${PORTAL_URL}/invitation#`),
      expires_at: expect.any(String),
      sets_new_password: false,
    });
    expect((Date.parse(invitation.expires_at) - Date.now()) / 3_600_000).toBeCloseTo(24, 1);
    const [{ left }] = await cli
      .knex('invitations')
      .where({ email: 'omar@example.com' })
      .select(cli.knex.raw('extract(epoch from expires_at - now())::float / 3600 as left'));
    expect(left).toBeCloseTo(24, 1);
  });

  test('of a user makes a link that sets a new password, and invalidates the previous link', async () => {
    await join(await cli.json('users', 'invite', 'badr@example.com', '--account', String(accountId)));
    const first = await cli.json('users', 'invite', 'badr@example.com');
    expect(first).toMatchObject({ role: 'account_holder', account_id: accountId, sets_new_password: true });
    const { stdout } = await cli.run('users', 'invite', 'badr@example.com', '--account', 'Corner Bakery');
    expect(stdout).toContain('They are a user already: it sets a new password and ends their sessions.');
    expect(await findInvitation(cli.db, tokenOf(first))).toBeNull();
  });

  test('gives a role, and adds a user to another account by a link that sets no password', async () => {
    const other = String((await cli.json('accounts', 'create', 'Other')).account_id);
    const first = await cli.json(
      'users',
      'invite',
      'dina@example.com',
      '--account',
      'Corner Bakery',
      '--role',
      'viewer',
    );
    expect(first).toMatchObject({ member_role: 'viewer', sets_new_password: false });
    await join(first);
    const { stdout } = await cli.run('users', 'invite', 'dina@example.com', '--account', other, '--role', 'developer');
    expect(stdout).toContain(`as           developer of account ${other}\n`);
    expect(stdout).toContain('They are a user already: they sign in to accept it.');
    const [link = ''] = stdout.match(/https:\S+/g) ?? [];
    expect(await acceptInvitation(cli.db, tokenOf({ link }), 'Mallory', 'another hash')).toBe('sign_in');
    const again = await cli.json('users', 'invite', 'dina@example.com', '--account', 'Corner Bakery');
    expect(again).toMatchObject({ member_role: 'viewer', sets_new_password: true });
  });

  test('changes no role, and makes no operator of a member', async () => {
    await join(await cli.json('users', 'invite', 'eman@example.com', '--account', String(accountId)));
    expect(
      await cli.refused(1, 'users', 'invite', 'eman@example.com', '--account', 'Corner Bakery', '--role', 'viewer'),
    ).toBe(`eman@example.com has another role in account ${accountId}; to change it: orders users role`);
    expect(await cli.refused(1, 'users', 'invite', 'eman@example.com', '--operator')).toBe(
      `eman@example.com is a user already, as owner of ${accountId}; to change that, first: orders users remove eman@example.com`,
    );
  });

  test('requires one role, an existing account and a lifetime', async () => {
    expect(await cli.refused(2, 'users', 'invite', 'new@example.com')).toContain('Give --account');
    expect(await cli.refused(2, 'users', 'invite', 'new@example.com', '--operator', '--account', '1')).toContain(
      'either',
    );
    expect(await cli.refused(1, 'users', 'invite', 'new@example.com', '--account', 'Nobody')).toContain('No account');
    expect(await cli.refused(2, 'users', 'invite', 'new@example.com', '--operator', '--role', 'owner')).toContain(
      '--role is a role in an account',
    );
    expect(
      await cli.refused(2, 'users', 'invite', 'new@example.com', '--account', 'Corner Bakery', '--role', 'admin'),
    ).toContain('viewer, reviewer, developer, owner');
    expect(await cli.refused(2, 'users', 'invite', 'new@example.com', '--operator', '--expires', '0')).toContain(
      '--expires takes a time span',
    );
  });

  test.each(['nobody', 'a b@example.com', 'ä@example.com', '@example.com', 'a@localhost', 'a..b@example.com', ''])(
    '"%s" is no address, and is not repeated',
    async (address) => {
      expect(await cli.refused(2, 'users', 'invite', '--operator', '--', address)).toBe(
        'An e-mail address is one such as name@example.com, in ASCII.',
      );
    },
  );

  test('without the address of the portal: one line that names the variable', async () => {
    for (const PORTAL_URL of ['', 'portal.example.com', 'https://example.com/portal']) {
      const env = { DATABASE_URL: cli.url, PORTAL_URL };
      const { code, stderr } = await run(['users', 'invite', 'a@example.com', '--operator'], env);
      expect([code, stderr]).toEqual([2, expect.stringMatching(/^Configuration: .*PORTAL_URL/)]);
    }
  });
});

test('list shows users, of one account or all', async () => {
  await join(await cli.json('users', 'invite', 'list@example.com', '--account', String(accountId)));
  const [user] = (await cli.json('users', 'list', 'Corner Bakery')).filter(
    ({ email }: { email: string }) => email === 'list@example.com',
  );
  expect(user).toEqual({
    user_id: expect.any(String),
    email: 'list@example.com',
    name: 'Aisha',
    role: 'account_holder',
    memberships: [{ account_id: accountId, account_name: 'Corner Bakery', role: 'owner' }],
    created_at: expect.any(String),
    last_signed_in_at: null,
  });
  expect((await cli.run('users', 'list')).stdout).toMatch(
    /^E-MAIL +NAME +ROLE +SINCE.*\n(.*\n)*list@example\.com +Aisha +owner of \d+ /,
  );
  const { account_id } = await cli.json('accounts', 'create', 'Empty');
  expect((await cli.run('users', 'list', String(account_id))).stdout).toBe('There are no users.\n');
});

test('remove ends the access of a user, with sessions and links', async () => {
  await join(await cli.json('users', 'invite', 'gone@example.com', '--account', String(accountId)));
  const [{ id }] = await cli.knex('users').where({ email: 'gone@example.com' }).select('id');
  await cli
    .knex('user_sessions')
    .insert({ id: 's', user_id: id, token: 't', expires_at: cli.knex.raw("now() + interval '1h'") });
  const link = await cli.json('users', 'invite', 'gone@example.com');
  expect((await cli.run('users', 'remove', 'GONE@example.com')).stdout).toBe(
    'gone@example.com is removed; all sessions have ended.\n',
  );
  expect(await cli.knex('user_sessions').where({ user_id: id })).toEqual([]);
  expect(await findInvitation(cli.db, tokenOf(link))).toBeNull();
  expect((await auditOf('gone@example.com')).at(-1)).toMatchObject({ action: 'user_removed', account_id: accountId });
  expect(await cli.refused(1, 'users', 'remove', 'gone@example.com')).toBe(
    'There is no user gone@example.com; orders users list shows all.',
  );
});

test.each([[[]], [['--account', 'Corner Bakery']]])(
  'remove withdraws the invitation of somebody who has not joined (%j)',
  async (only) => {
    const address = `invited${only.length}@example.com`;
    const link = await cli.json('users', 'invite', address, '--account', String(accountId));
    expect(await cli.run('users', 'remove', address, ...only)).toMatchObject({
      code: 0,
      stdout: `${address} is not a user yet; the invitation is withdrawn.\n`,
    });
    expect(await findInvitation(cli.db, tokenOf(link))).toBeNull();
    expect((await auditOf(address)).at(-1)).toMatchObject({
      action: 'invitation_withdrawn',
      account_id: accountId,
    });
    await cli.refused(1, 'users', 'remove', address, ...only);
  },
);

describe('a member', () => {
  const rolesOf = async (email: string) =>
    (await cli.json('users', 'list')).find((user: { email: string }) => user.email === email)?.memberships;

  test('gets another role, also the last owner', async () => {
    await join(await cli.json('users', 'invite', 'role@example.com', '--account', String(accountId)));
    const { stdout } = await cli.run('users', 'role', 'ROLE@example.com', 'Corner Bakery', 'reviewer');
    expect(stdout).toBe('role@example.com is reviewer now.\n');
    expect(await rolesOf('role@example.com')).toMatchObject([{ account_id: accountId, role: 'reviewer' }]);
    expect((await auditOf('role@example.com')).at(-1)).toMatchObject({
      action: 'user_role_changed',
      account_id: accountId,
    });
    expect(await cli.refused(2, 'users', 'role', 'role@example.com', 'Corner Bakery', 'admin')).toContain('viewer');
    for (const email of ['role@example.com', 'nobody@example.com']) {
      const { account_id: other } = await cli.json('accounts', 'create', 'Without them');
      const refusal = `${email} is not a member of account ${other}.`;
      expect(await cli.refused(1, 'users', 'role', email, String(other), 'viewer')).toBe(refusal);
      expect(await cli.refused(1, 'users', 'remove', email, '--account', String(other))).toBe(refusal);
    }
  });

  test('leaves one account, and with the last one the portal', async () => {
    const { account_id: other } = await cli.json('accounts', 'create', 'Second');
    await join(await cli.json('users', 'invite', 'leaves@example.com', '--account', String(accountId)));
    const [{ id }] = await cli.knex('users').where({ email: 'leaves@example.com' }).select('id');
    await cli.knex('memberships').insert({ user_id: id, account_id: other, role: 'viewer' });
    const removeFrom = (account: number) =>
      cli.run('users', 'remove', 'leaves@example.com', '--account', String(account));
    expect((await removeFrom(accountId)).stdout).toBe('leaves@example.com is no longer a member of the account.\n');
    expect(await rolesOf('leaves@example.com')).toMatchObject([{ account_id: other, role: 'viewer' }]);
    expect((await removeFrom(other)).code).toBe(0);
    expect(await cli.knex('users').where({ id })).toEqual([]);
  });
});

test('unlink lets a user sign in by another account of the identity provider, and ends their sessions', async () => {
  await join(await cli.json('users', 'invite', 'linked@example.com', '--account', String(accountId)));
  const [{ id }] = await cli.knex('users').where({ email: 'linked@example.com' }).select('id');
  const binding = { id: 'b', user_id: id, provider_id: 'https://id.example.com', provider_account_id: 'sub' };
  await cli.knex('user_credentials').insert(binding);
  await cli
    .knex('user_sessions')
    .insert({ id: 'u', user_id: id, token: 'u', expires_at: cli.knex.raw("now() + interval '1h'") });
  expect((await cli.run('users', 'unlink', 'LINKED@example.com')).stdout).toBe(
    'linked@example.com is unlinked; all sessions have ended.\n',
  );
  expect(await cli.knex('user_sessions').where({ user_id: id })).toEqual([]);
  expect(await cli.knex('user_credentials').where({ user_id: id }).pluck('provider_id')).toEqual(['credential']);
  expect((await auditOf('linked@example.com')).at(-1)).toMatchObject({ action: 'identity_unbound' });
  expect((await cli.run('users', 'unlink', 'linked@example.com')).stdout).toBe(
    'linked@example.com was not linked to an account of an identity provider.\n',
  );
  expect(await cli.json('users', 'unlink', 'linked@example.com')).toEqual({
    email: 'linked@example.com',
    unlinked: false,
  });
  expect(await cli.refused(1, 'users', 'unlink', 'nobody@example.com')).toBe(
    'There is no user nobody@example.com; orders users list shows all.',
  );
});
