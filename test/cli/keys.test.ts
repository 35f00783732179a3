import { userInfo } from 'node:os';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { closeDatabase, findAuthenticatedKeys, openDatabase } from '@orders/database';
import { hashApiKey, isApiKey } from '@orders/domain';
import { useCli } from './run.ts';

const cli = useCli();
let accountId: string;

beforeAll(async () => {
  accountId = String((await cli.json('accounts', 'create', 'Key Holder')).account_id);
});

/** Whether intake would accept the key now. */
async function works(key: string): Promise<boolean> {
  const database = openDatabase({ url: cli.url, poolSize: 1, prepared: false });
  const [authenticated] = await findAuthenticatedKeys(database, [hashApiKey(key)]);
  await closeDatabase(database);
  return authenticated !== null;
}

describe('create', () => {
  test('--json gives the key with its text, which works', async () => {
    const key = await cli.json('keys', 'create', 'Key Holder', '--name', 'shop back end');
    expect(key).toEqual({
      key_id: expect.any(Number),
      account_id: Number(accountId),
      name: 'shop back end',
      last_four: key.key.slice(-4),
      state: 'active',
      created_at: expect.any(String),
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
      key: expect.stringMatching(/^oik_/),
    });
    expect(isApiKey(key.key)).toBe(true);
    expect(await works(key.key)).toBe(true);
  });

  test('prints the key once, and nothing shows it again', async () => {
    const { stdout } = await cli.run('keys', 'create', accountId);
    const [key] = stdout.match(/oik_\w+/g) as [string];
    expect(stdout.split(key)).toHaveLength(2);
    expect(stdout).toContain('cannot be shown again');
    for (const again of [
      await cli.run('keys', 'list', accountId),
      await cli.run('keys', 'list', accountId, '--json'),
      await cli.run('accounts', 'show', accountId, '--json'),
    ])
      expect(again.stdout).not.toContain(key.slice(0, -4));
    const { rows } = await cli.knex.raw('select k::text as text from api_keys k');
    expect(JSON.stringify(rows)).not.toContain(key.slice(4, -4));
  });

  test('needs an account that exists and a name of one line', async () => {
    expect(await cli.refused(1, 'keys', 'create', 'Nobody')).toContain('No account');
    expect(await cli.refused(2, 'keys', 'create', accountId, '--name', '')).toContain('The name of a key is');
  });
});

test('list shows keys of this account alone, by their last characters', async () => {
  const { account_id } = await cli.json('accounts', 'create', 'Other');
  const other = String(account_id);
  expect(await cli.json('keys', 'list', other)).toEqual([]);
  expect((await cli.run('keys', 'list', other)).stdout).toBe('The account has no keys.\n');
  const { key, ...rest } = await cli.json('keys', 'create', other);
  expect(await cli.json('keys', 'list', other)).toEqual([rest]);
  expect((await cli.run('keys', 'list', 'Other')).stdout).toMatch(
    new RegExp(`^ +${rest.key_id} .*…${rest.last_four}`, 'm'),
  );
  expect(key.endsWith(rest.last_four)).toBe(true);
});

describe('replace', () => {
  test('without grace ends the old key at once', async () => {
    const old = await cli.json('keys', 'create', accountId, '--name', 'till');
    const made = await cli.json('keys', 'replace', String(old.key_id));
    expect(made).toMatchObject({ name: 'till', state: 'active', key: expect.stringMatching(/^oik_/) });
    expect([await works(old.key), await works(made.key)]).toEqual([false, true]);
  });

  test('with grace keeps the old key valid for that time', async () => {
    const old = await cli.json('keys', 'create', accountId);
    const { stdout } = await cli.run('keys', 'replace', String(old.key_id), '--grace', '24h');
    const [made] = stdout.match(/oik_\w+/) as [string];
    expect(stdout).toMatch(/works until \d{4}-/);
    expect([await works(old.key), await works(made)]).toEqual([true, true]);
    const listed = (await cli.json('keys', 'list', accountId)).find((key: typeof old) => key.key_id === old.key_id);
    const left = Date.parse(listed.expires_at) - Date.now();
    expect(left / 3_600_000).toBeCloseTo(24, 1);
  });

  test('of an invalid or unknown key fails and makes none', async () => {
    const { key_id } = await cli.json('keys', 'create', accountId);
    await cli.json('keys', 'revoke', String(key_id));
    const before = await cli.json('keys', 'list', accountId);
    expect(await cli.refused(1, 'keys', 'replace', String(key_id))).toContain(`Key ${key_id} is revoked already`);
    expect(await cli.refused(1, 'keys', 'replace', '999999')).toContain('No key has the id 999999');
    expect(await cli.json('keys', 'list', accountId)).toEqual(before);
  });

  test.each(['24', '-1h', 'soon', '1e9y', '366d', ''])('--grace %p is a usage error', async (grace) => {
    expect(await cli.refused(2, 'keys', 'replace', '1', `--grace=${grace}`)).toContain('--grace takes a time span');
  });
});

test('revoke ends a key; a second time changes nothing', async () => {
  const { key, key_id } = await cli.json('keys', 'create', accountId);
  const revoked = await cli.json('keys', 'revoke', String(key_id));
  expect(revoked).toMatchObject({ key_id, state: 'revoked', revoked_at: expect.any(String) });
  expect(await works(key)).toBe(false);
  expect(await cli.json('keys', 'revoke', String(key_id))).toEqual(revoked);
  expect((await cli.run('keys', 'revoke', String(key_id))).stdout).toContain('is revoked');
  expect(await cli.refused(1, 'keys', 'revoke', '999999')).toContain('No key has the id 999999');
});

test('actions on keys are recorded once, without the keys themselves', async () => {
  const { account_id } = await cli.json('accounts', 'create', 'On Record');
  const first = await cli.json('keys', 'create', String(account_id), '--name', 'till');
  const second = await cli.json('keys', 'replace', String(first.key_id), '--grace', '1h');
  for (let times = 0; times < 2; times += 1) await cli.json('keys', 'revoke', String(second.key_id));
  await cli.refused(1, 'keys', 'replace', String(second.key_id));
  const actor = `operator:${userInfo().username}`;
  const [subject, name] = [`key:${first.key_id}`, 'till'];
  const events = await cli.audit(account_id);
  expect(events).toMatchObject([
    { action: 'account_created' },
    { action: 'key_created', actor, subject, details: { name, last_four: first.last_four } },
    {
      action: 'key_replaced',
      actor,
      subject,
      details: { name, last_four: first.last_four, grace_ms: 3_600_000, new_key_id: second.key_id },
    },
    { action: 'key_revoked', actor, subject: `key:${second.key_id}`, details: { name, last_four: second.last_four } },
  ]);
  for (const { key } of [first, second]) expect(JSON.stringify(events)).not.toContain(key.slice(4, -4));
});

test.each([
  ['keys', 'revoke'],
  ['keys', 'replace'],
])('%s %s of a key instead of its id does not repeat it', async (...words) => {
  for (const id of ['oik_thisIsSecret', '0', '1.5', '-1', '2147483648', ''])
    expect(await cli.refused(2, ...words, '--', id)).toBe('A key id is a whole number, as orders keys list shows it.');
});
