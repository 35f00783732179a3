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
    created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    suspended_at: null,
  });
  expect(await cli.json('accounts', 'show', String(account.account_id))).toEqual(account);
  expect(await cli.json('accounts', 'show', 'Corner Bakery')).toEqual(account);
  expect(await cli.json('accounts', 'list')).toContainEqual(account);
});

test('people get text, in lines of at most 100 columns', async () => {
  const { stdout: made } = await cli.run('accounts', 'create', `${'Long name '.repeat(15)}end`);
  expect(made).toMatch(/^account +\d+\nname +Long name/);
  const { stdout } = await cli.run('accounts', 'list');
  expect(stdout).toMatch(/^ *ID {2}NAME +STATE +SIGNING +CREATED\n/);
  expect(stdout).toContain('…');
  for (const line of `${made}${stdout}`.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
});

test('what would move the cursor is printed as its code', async () => {
  await cli.knex('accounts').insert({ name: 'evil\u001b[2Jname\u202e' });
  const { stdout } = await cli.run('accounts', 'list');
  expect(stdout).toContain('evil\\u001b[2Jname\\u202e');
});

test('suspend and resume, each as often as one likes', async () => {
  const { account_id } = await cli.json('accounts', 'create', 'Late Payer');
  const id = String(account_id);
  const suspended = await cli.json('accounts', 'suspend', 'Late Payer');
  expect(suspended).toMatchObject({ account_id, state: 'suspended', suspended_at: expect.any(String) });
  expect(await cli.json('accounts', 'suspend', id)).toEqual(suspended);
  expect((await cli.run('accounts', 'show', id)).stdout).toMatch(/^suspended +\d/m);
  expect(await cli.json('accounts', 'resume', id)).toMatchObject({ state: 'active', suspended_at: null });
  expect((await cli.run('accounts', 'resume', id)).stdout).toContain('is active');
});

test('two of one name: the id is asked for', async () => {
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

test.each(['show', 'suspend', 'resume'])('%s of an unknown account fails', async (verb) => {
  expect(await cli.refused(1, 'accounts', verb, 'Nobody')).toBe(
    'No account has the name "Nobody"; orders accounts list shows all.',
  );
});

test.each([
  ['an empty name', '  '],
  ['a line break', 'a\nb'],
  ['too long', 'x'.repeat(201)],
])('create refuses %s', async (_, name) => {
  expect(await cli.refused(2, 'accounts', 'create', name)).toContain('The name of an account is');
});
