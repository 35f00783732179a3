import { beforeAll, describe, expect, test } from '@jest/globals';
import { acceptInvitation, findInvitation } from '@orders/database';
import { PORTAL_URL, run, useCli } from './run.ts';

const cli = useCli();
let accountId: number;

beforeAll(async () => {
  accountId = (await cli.json('accounts', 'create', 'Corner Bakery')).account_id;
});

const tokenOf = ({ link }: { link: string }) => link.split('#')[1] as string;
const join = async (invitation: { link: string }) =>
  expect(await acceptInvitation(cli.knex, tokenOf(invitation), 'Aisha', 'a hash')).not.toBeNull();
const auditOf = (email: string) =>
  cli
    .knex('audit_events')
    .where({ subject: `user:${email}` })
    .orderBy('event_id')
    .select('account_id', 'actor', 'action');

describe('invite', () => {
  test('prints a one-time link for a holder, its token where no server sees it, and keeps no token', async () => {
    const { stdout } = await cli.run('users', 'invite', 'Aisha@Example.com', '--account', 'Corner Bakery');
    const [link = ''] = stdout.match(/https:\S+/g) ?? [];
    expect(link).toMatch(new RegExp(`^${PORTAL_URL}/invitation#[\\w-]{43}$`));
    expect(stdout).toMatch(/^for +aisha@example\.com\nas +holder of account \d+\nworks until +\d{4}-/m);
    expect(stdout).toContain('lets them set a password');
    expect(await findInvitation(cli.knex, tokenOf({ link }))).toEqual({
      email: 'aisha@example.com',
      role: 'account_holder',
      accountId,
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
    expect(await findInvitation(cli.knex, tokenOf(first))).toBeNull();
  });

  test('moves no user to another account or role', async () => {
    const other = String((await cli.json('accounts', 'create', 'Other')).account_id);
    await join(await cli.json('users', 'invite', 'dina@example.com', '--account', String(accountId)));
    for (const as of [['--account', other], ['--operator']])
      expect(await cli.refused(1, 'users', 'invite', 'dina@example.com', ...as)).toBe(
        `dina@example.com is a user already, as holder of account ${accountId}; to change that, first: orders users remove dina@example.com`,
      );
  });

  test('requires one role, an existing account and a lifetime', async () => {
    expect(await cli.refused(2, 'users', 'invite', 'new@example.com')).toContain('Give --account');
    expect(await cli.refused(2, 'users', 'invite', 'new@example.com', '--operator', '--account', '1')).toContain(
      'either',
    );
    expect(await cli.refused(1, 'users', 'invite', 'new@example.com', '--account', 'Nobody')).toContain('No account');
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
    account_id: accountId,
    created_at: expect.any(String),
    last_signed_in_at: null,
  });
  expect((await cli.run('users', 'list')).stdout).toMatch(
    /^E-MAIL +NAME +ROLE +ACCOUNT.*\n(.*\n)*list@example\.com +Aisha +account holder/,
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
  expect(await findInvitation(cli.knex, tokenOf(link))).toBeNull();
  expect((await auditOf('gone@example.com')).at(-1)).toMatchObject({ action: 'user_removed', account_id: accountId });
  expect(await cli.refused(1, 'users', 'remove', 'gone@example.com')).toBe(
    'There is no user gone@example.com; orders users list shows all.',
  );
});
