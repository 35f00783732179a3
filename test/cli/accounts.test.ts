import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { useCli } from './run.ts';

const cli = useCli();

test('create gives the account; show finds it by id and by name; list has it', async () => {
  const account = await cli.json('accounts', 'create', ' Corner Bakery ');
  expect(account).toEqual({
    account_id: expect.any(Number),
    name: 'Corner Bakery',
    state: 'active',
    signing_enabled: false,
    signed_only: false,
    second_factor_required: false,
    rate_limit: null,
    resends: 'ignore',
    created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    suspended_at: null,
    test_of: null,
    moved_to: null,
  });
  expect(await cli.json('accounts', 'show', String(account.account_id))).toEqual(account);
  expect(await cli.json('accounts', 'show', 'Corner Bakery')).toEqual(account);
  expect(await cli.json('accounts', 'list')).toContainEqual(account);
});

test('without --json the output is text, in lines of at most 100 columns', async () => {
  const { stdout: made } = await cli.run('accounts', 'create', `${'Long name '.repeat(15)}end`);
  expect(made).toMatch(/^account +\d+\nname +Long name/);
  const { stdout } = await cli.run('accounts', 'list');
  expect(stdout).toMatch(/^ *ID {2}NAME +STATE +TESTS OF +SIGNING +LIMIT +RESENDS +CREATED\n/);
  expect(stdout).toContain('…');
  for (const line of `${made}${stdout}`.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
});

test('characters that would move the cursor are escaped', async () => {
  await cli.knex('accounts').insert({ name: 'evil\u001b[2Jname\u202e' });
  const { stdout } = await cli.run('accounts', 'list');
  expect(stdout).toContain('evil\\u001b[2Jname\\u202e');
});

test('suspend and resume may be repeated; only changes are recorded', async () => {
  const { account_id } = await cli.json('accounts', 'create', 'Late Payer');
  const id = String(account_id);
  const suspended = await cli.json('accounts', 'suspend', 'Late Payer');
  expect(suspended).toMatchObject({ account_id, state: 'suspended', suspended_at: expect.any(String) });
  expect(await cli.json('accounts', 'suspend', id)).toEqual(suspended);
  expect((await cli.run('accounts', 'show', id)).stdout).toMatch(/^suspended +\d/m);
  expect(await cli.json('accounts', 'resume', id)).toMatchObject({ state: 'active', suspended_at: null });
  expect((await cli.run('accounts', 'resume', id)).stdout).toContain('is active');
  const audit = await cli.knex('audit_events').where({ account_id }).orderBy('event_id');
  expect(audit[0].actor).toMatch(/^operator:/);
  expect(audit.map(({ action }) => action)).toEqual(['account_created', 'account_suspended', 'account_resumed']);
});

test('limit sets a rate, none or the default; show and list tell which', async () => {
  const { account_id } = await cli.json('accounts', 'create', 'Busy Kitchen');
  const id = String(account_id);
  for (const [limit, stored] of [
    ['6000/60s', { requests: 6000, seconds: 60 }],
    ['none', 'none'],
    ['5/1d', { requests: 5, seconds: 86_400 }],
    ['default', null],
  ] as const) {
    const account = await cli.json('accounts', 'limit', 'Busy Kitchen', limit);
    expect(account).toMatchObject({ account_id, rate_limit: stored });
    expect(await cli.json('accounts', 'show', id)).toEqual(account);
    const shown = limit === '6000/60s' ? '6000/1m' : limit;
    expect((await cli.run('accounts', 'limit', id, limit)).stdout).toBe(
      `The rate limit of account ${id} is ${shown}; intake applies it within 5 seconds.\n`,
    );
    expect((await cli.run('accounts', 'show', id)).stdout).toMatch(new RegExp(`^rate limit +${shown}$`, 'm'));
    expect((await cli.run('accounts', 'list')).stdout).toMatch(new RegExp(` Busy Kitchen .* ${shown} `));
  }
});

test.each(['100', '0/1s', '100/500ms', '1/25d', 'None', ''])('limit refuses "%s"', async (limit) => {
  expect(await cli.refused(2, 'accounts', 'limit', '1', limit)).toBe(
    'A limit is <requests>/<time in whole seconds>, at most 24d, such as 100/1s or 6000/1m; or none; or default.',
  );
});

test('resends sets whether an order that is sent again with other content waits; only changes are recorded', async () => {
  const { account_id } = await cli.json('accounts', 'create', 'Corrected');
  const id = String(account_id);
  for (const [resends, said] of [
    ['hold', 'once somebody has chosen a version'],
    ['hold', 'once somebody has chosen a version'],
    ['ignore', 'can still be confirmed'],
  ] as const) {
    expect((await cli.run('accounts', 'resends', 'Corrected', resends)).stdout).toContain(said);
    expect(await cli.json('accounts', 'show', id)).toMatchObject({ account_id, resends });
    expect((await cli.run('accounts', 'list')).stdout).toMatch(new RegExp(` Corrected .* ${resends} `));
  }
  const details = await cli.knex('audit_events').where({ account_id, action: 'resends_hold_changed' }).pluck('details');
  expect(details).toEqual([{ resends: 'hold' }, { resends: 'ignore' }]);
  expect((await cli.run('accounts', 'resends', id, 'maybe')).code).toBe(2);
});

test('signed-only needs signing, which then cannot be disabled; only changes are recorded', async () => {
  const { account_id } = await cli.json('accounts', 'create', 'Signing Shop');
  const id = String(account_id);
  expect(await cli.refused(1, 'accounts', 'signed-only', id, 'on')).toContain('Signing is not enabled');
  await cli.json('signing', 'enable', id);
  for (const what of ['on', 'on'])
    expect((await cli.run('accounts', 'signed-only', id, what)).stdout).toBe(
      `Account ${id} accepts signed deliveries only; intake applies it within 5 seconds.\n`,
    );
  expect((await cli.run('accounts', 'show', id)).stdout).toMatch(/^signing +signed only$/m);
  expect(await cli.refused(1, 'signing', 'disable', id)).toContain(`orders accounts signed-only ${id} off`);
  expect(await cli.json('accounts', 'signed-only', id, 'off')).toMatchObject({ signed_only: false });
  await cli.json('signing', 'disable', id);
  const details = await cli.knex('audit_events').where({ account_id, action: 'signed_only_changed' }).pluck('details');
  expect(details).toEqual([{ signed_only: true }, { signed_only: false }]);
  expect((await cli.run('accounts', 'signed-only', id, 'maybe')).code).toBe(2);
});

test('test opens the test account, made once, with signing and events', async () => {
  const { account_id } = await cli.json('accounts', 'create', 'Careful');
  const opened = await cli.json('accounts', 'test', 'Careful');
  expect(opened).toMatchObject({ name: 'Careful (test)', test_of: account_id, signing_enabled: true });
  const id = String(opened.account_id);
  expect(await cli.json('accounts', 'test', String(account_id))).toEqual(opened);
  expect(await cli.json('accounts', 'test', id)).toEqual(opened);
  expect((await cli.json('signing', 'show', id)).secrets).toHaveLength(1);
  expect(await cli.json('events', 'show', id)).toMatchObject({ is_enabled: true });
  expect((await cli.run('accounts', 'list')).stdout).toMatch(
    new RegExp(`^ *${id} {2}Careful \\(test\\) +active +${account_id} {2}enabled `, 'm'),
  );
  expect((await cli.audit(account_id)).map(({ action }) => action)).toEqual([
    'account_created',
    'test_account_created',
  ]);
  expect((await cli.audit(id)).map(({ action }) => action)).toEqual([
    'signing_enabled',
    'events_enabled',
    'signing_secret_revealed',
  ]);
});

test('two accounts with the same name: the id is required', async () => {
  const ids = [];
  for (let n = 0; n < 2; n++) ids.push((await cli.json('accounts', 'create', 'Twin')).account_id);
  const line = await cli.refused(1, 'accounts', 'suspend', 'Twin');
  expect(line).toContain(`use the id: ${ids.join(', ')}`);
  expect(await cli.json('accounts', 'show', String(ids[1]))).toMatchObject({ state: 'active' });
});

test('digits are an id, never a name', async () => {
  await cli.knex('accounts').insert({ name: '987654' });
  expect(await cli.refused(1, 'accounts', 'suspend', '987654')).toContain('No account has the id 987654');
  expect(await cli.refused(1, 'accounts', 'show', '99999999999999999999')).toContain('No account');
  expect(await cli.refused(2, 'accounts', 'create', '12')).toContain('only digits');
});

test.each([['show'], ['suspend'], ['resume'], ['limit', '1/1s'], ['resends', 'hold']])(
  '%s of an unknown account fails',
  async (verb, ...rest) => {
    expect(await cli.refused(1, 'accounts', verb, 'Nobody', ...rest)).toBe(
      'No account has the name "Nobody"; orders accounts list shows all.',
    );
  },
);

test.each([
  ['an empty name', '  '],
  ['a line break', 'a\nb'],
  ['too long', 'x'.repeat(201)],
])('create refuses %s', async (_, name) => {
  expect(await cli.refused(2, 'accounts', 'create', name)).toContain('The name of an account is');
});

test('moved-keys prints what still works of moved accounts', async () => {
  expect((await cli.run('accounts', 'moved-keys')).stdout).toBe('# No account was moved.\n');
  const { account_id } = await cli.json('accounts', 'create', 'Moved Away');
  const { key } = await cli.json('keys', 'create', 'Moved Away');
  const revoked = await cli.json('keys', 'create', 'Moved Away');
  await cli.json('keys', 'revoke', String(revoked.key_id));
  await cli.json('accounts', 'create', 'Still Here');
  await cli.json('keys', 'create', 'Still Here');
  const moved_to = 'https://orders-2.example.com';
  await cli.knex('accounts').where({ account_id }).update({ moved_to });
  const hash = createHash('sha256').update(key).digest('hex');
  expect(await cli.json('accounts', 'moved-keys')).toEqual([{ account_id, hash, moved_to }]);
  expect((await cli.run('accounts', 'moved-keys')).stdout).toBe(`${hash} ${moved_to}\n`);
  expect((await cli.run('accounts', 'show', 'Moved Away')).stdout).toMatch(/^moved to +https:/m);
});

test('busiest lists who has sent most lately, and nobody who has not', async () => {
  const ids = [];
  for (const name of ['Quiet Corner', 'Mad Sender', 'Asleep'])
    ids.push((await cli.json('accounts', 'create', name)).account_id);
  const [quiet, mad, asleep] = ids;
  const minutesAgo = (minutes: number) => cli.knex.raw("now() - ? * interval '1 minute'", [minutes]);
  await cli.knex('activity').insert([
    { account_id: quiet, bucket_start: minutesAgo(4), accepted: 7, dead: 1 },
    { account_id: mad, bucket_start: minutesAgo(4), accepted: 900, duplicate: 800 },
    { account_id: mad, bucket_start: minutesAgo(9), accepted: 100 },
    { account_id: asleep, bucket_start: minutesAgo(40), accepted: 5000 },
  ]);
  expect(await cli.json('accounts', 'busiest')).toMatchObject([
    { account_id: mad, name: 'Mad Sender', accepted: 1000, duplicate: 800, dead: 0 },
    { account_id: quiet, accepted: 7, duplicate: 0, dead: 1 },
  ]);
  expect(await cli.json('accounts', 'busiest', '--within', '1h', '--limit', '1')).toMatchObject([
    { account_id: asleep },
  ]);
  expect((await cli.run('accounts', 'busiest')).stdout).toMatch(
    /^ID {2}NAME +STATE +TESTS OF +LIMIT +ACCEPTED {2}DUPLICATE {2}DEAD\n/,
  );
  expect((await cli.run('accounts', 'busiest', '--within', '1s')).stdout).toBe('Nobody has sent anything lately.\n');
});
