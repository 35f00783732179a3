import { userInfo } from 'node:os';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { closeDatabase, openDatabase } from '@orders/database/connect.ts';
import { hashApiKey, isApiKey } from '@orders/domain/api-key.ts';
import { findAuthenticatedKeys } from '@orders/intake/pipeline/find-authenticated-keys.ts';
import { run, useCli } from './run.ts';

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
      scopes: ['send', 'cancel', 'read'],
      addresses: [],
      lifetime_seconds: null,
      expires_soon: false,
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

describe('scopes, addresses and expiry', () => {
  const LIMITS = ['--scopes', 'read, send', '--addresses', '203.0.113.0/24,2001:db8::1', '--expires', '10d'];

  test('are set by create, shown by list with a notice of the expiry, and recorded', async () => {
    const { account_id } = await cli.json('accounts', 'create', 'Limited');
    const id = String(account_id);
    const made = await cli.json('keys', 'create', id, ...LIMITS);
    const limits = { scopes: ['send', 'read'], addresses: ['203.0.113.0/24', '2001:db8::1'] };
    expect(made).toMatchObject({ ...limits, lifetime_seconds: 864_000, expires_soon: true });
    expect((Date.parse(made.expires_at) - Date.now()) / 86_400_000).toBeCloseTo(10, 2);
    await cli.run('keys', 'create', id, '--expires', '15d');
    const { stdout } = await cli.run('keys', 'list', id);
    expect(stdout).toContain(`Key ${made.key_id} has the scopes send, read only.\n`);
    expect(stdout).toContain(`Key ${made.key_id} works from 203.0.113.0/24, 2001:db8::1 only.\n`);
    expect(stdout.match(/ expires at /g)).toHaveLength(1);
    expect(stdout).toContain(`Key ${made.key_id} expires at ${made.expires_at}. Replace it`);
    expect(await cli.audit(account_id)).toContainEqual(
      expect.objectContaining({
        action: 'key_created',
        details: { name: 'default', last_four: made.last_four, ...limits, expires_at: made.expires_at },
      }),
    );
  });

  test('are kept by replace, and the lifetime counts from then', async () => {
    const old = await cli.json('keys', 'create', accountId, ...LIMITS);
    await cli
      .knex('api_keys')
      .where({ key_id: old.key_id })
      .update({ expires_at: new Date(Date.now() + 60_000) });
    const made = await cli.json('keys', 'replace', String(old.key_id), '--grace', '1h');
    const { scopes, addresses, lifetime_seconds } = old;
    expect(made).toMatchObject({ scopes, addresses, lifetime_seconds });
    expect((Date.parse(made.expires_at) - Date.now()) / 86_400_000).toBeCloseTo(10, 2);
    for (const words of [['replace'], ['update', '--expires', 'never']] as const)
      expect(await cli.refused(1, 'keys', words[0], String(old.key_id), ...words.slice(1))).toContain(
        `Key ${old.key_id} is replaced already`,
      );
  });

  test('are changed by update, one by one', async () => {
    const { account_id } = await cli.json('accounts', 'create', 'Changing');
    const { key_id, last_four } = await cli.json('keys', 'create', String(account_id), ...LIMITS);
    const update = (...words: string[]) => cli.json('keys', 'update', String(key_id), ...words);
    expect(await update('--scopes', 'cancel')).toMatchObject({ scopes: ['cancel'], lifetime_seconds: 864_000 });
    expect(await update('--addresses', 'any')).toMatchObject({ scopes: ['cancel'], addresses: [] });
    expect(await update('--expires', 'never')).toMatchObject({ expires_at: null, lifetime_seconds: null });
    expect(await update('--expires', '90d')).toMatchObject({ lifetime_seconds: 7_776_000, expires_soon: false });
    expect(await cli.refused(2, 'keys', 'update', String(key_id))).toContain('Say what to change');
    expect(await cli.refused(1, 'keys', 'update', '999999', '--expires', 'never')).toContain('No key has the id');
    const changes = (await cli.audit(account_id)).filter(({ action }) => action === 'key_updated');
    expect(changes).toHaveLength(4);
    expect(changes[0]?.details).toMatchObject({ name: 'default', last_four, scopes: ['cancel'] });
  });

  test.each([
    ['--scopes', 'send,write'],
    ['--scopes', ''],
    ['--expires', '0'],
    ['--expires', '400d'],
    ['--addresses', 'shop.example'],
    ['--addresses', '203.0.113.0/33'],
    ['--addresses', Array.from({ length: 21 }, (_, n) => `203.0.113.${n}`).join(',')],
  ])('%s %j is a usage error', async (option, value) => {
    expect(await cli.refused(2, 'keys', 'create', accountId, `${option}=${value}`)).toContain(`${option} takes`);
  });
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

describe('signing', () => {
  let account: string;

  beforeEach(async () => {
    account = String((await cli.json('accounts', 'create', 'Webhook Sender')).account_id);
  });

  test('enable gives a secret, show shows it, and enabling again keeps it', async () => {
    const enabled = await cli.json('signing', 'enable', account);
    expect(enabled).toEqual({
      account_id: Number(account),
      secrets: [{ secret: expect.stringMatching(/^oss_\w{43}$/), created_at: expect.any(String), expires_at: null }],
    });
    expect(await cli.json('signing', 'show', account)).toEqual(enabled);
    expect(await cli.json('signing', 'enable', account)).toEqual(enabled);
    const [{ secret }] = enabled.secrets;
    expect((await cli.run('signing', 'show', account)).stdout).toContain(secret);
    expect(await cli.json('accounts', 'show', account)).toMatchObject({ signing_enabled: true });
    const { rows } = await cli.knex.raw("select encode(sealed, 'escape') as sealed from signing_secrets");
    expect(JSON.stringify(rows)).not.toContain(secret.slice(4));
  });

  test('rotate makes a new secret and lets the old one verify for the overlap', async () => {
    const [old] = (await cli.json('signing', 'enable', account)).secrets;
    const { secrets } = await cli.json('signing', 'rotate', account);
    expect(secrets).toEqual([
      expect.objectContaining({ expires_at: null }),
      { ...old, expires_at: expect.any(String) },
    ]);
    expect((Date.parse(secrets[1].expires_at) - Date.now()) / 3_600_000).toBeCloseTo(24, 1);
    expect(secrets[0].secret).not.toBe(old.secret);
    const after = await cli.json('signing', 'rotate', account, '--overlap', '0');
    expect(after.secrets).toHaveLength(1);
    expect(after.secrets[0].secret).not.toBe(secrets[0].secret);
    const { stdout } = await cli.run('signing', 'rotate', account, '--overlap', '1h');
    expect(stdout).toMatch(/^SECRET .*\noss_.* it is rotated\noss_/);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  });

  test('disable takes all secrets away; rotating then fails', async () => {
    expect(await cli.refused(1, 'signing', 'rotate', account)).toContain('Signing is not enabled');
    await cli.json('signing', 'enable', account);
    const empty = { account_id: Number(account), secrets: [] };
    expect(await cli.json('signing', 'disable', account)).toEqual(empty);
    expect(await cli.json('signing', 'show', account)).toEqual(empty);
    expect((await cli.run('signing', 'show', account)).stdout).toContain('Signing is not enabled');
    expect(await cli.refused(1, 'signing', 'rotate', account)).toContain('Signing is not enabled');
  });

  test('with another SECRETS_KEY nothing is shown or changed; disable still works', async () => {
    const enabled = await cli.json('signing', 'enable', account);
    const env = { DATABASE_URL: cli.url, SECRETS_KEY: Buffer.alloc(32, 8).toString('base64') };
    for (const verb of ['show', 'enable', 'rotate']) {
      const { code, stderr } = await run(['signing', verb, account], env);
      expect([code, stderr]).toEqual([1, expect.stringMatching(/^SECRETS_KEY is not the key/)]);
    }
    expect(await cli.json('signing', 'show', account)).toEqual(enabled);
    expect(await run(['signing', 'disable', account], { DATABASE_URL: cli.url })).toMatchObject({ code: 0 });
  });

  test('actions on secrets, including showing them, are recorded without the secrets themselves', async () => {
    const shown: string[] = [];
    const did = async (...words: string[]) => {
      const { secrets } = await cli.json('signing', ...words);
      shown.push(...secrets.map(({ secret }: { secret: string }) => secret));
    };
    await did('show', account);
    await did('disable', account);
    await did('enable', account);
    await did('enable', account);
    await did('show', account);
    await did('rotate', account, '--overlap', '1h');
    await did('disable', account);
    await did('disable', account);
    const [made, ...events] = await cli.audit(account);
    expect(made?.action).toBe('account_created');
    expect(events.map(({ action, details }) => [action, details])).toEqual([
      ['signing_enabled', null],
      ['signing_secret_revealed', null],
      ['signing_secret_revealed', null],
      ['signing_secret_rotated', { overlap_ms: 3_600_000 }],
      ['signing_disabled', null],
    ]);
    for (const event of events)
      expect(event).toMatchObject({ actor: `operator:${userInfo().username}`, subject: `account:${account}` });
    expect(shown).toHaveLength(5);
    for (const secret of shown) expect(JSON.stringify(events)).not.toContain(secret);
  });

  test.each([
    ['missing', undefined, 'set SECRETS_KEY'],
    ['too short', 'c2hvcnQ=', 'SECRETS_KEY must be 32 bytes'],
  ])('a SECRETS_KEY that is %s is a usage error', async (_, key, message) => {
    const { code, stderr } = await run(['signing', 'show', account], { DATABASE_URL: cli.url, SECRETS_KEY: key });
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    if (key) expect(stderr).not.toContain(key);
  });

  test('wrong accounts and overlaps', async () => {
    for (const verb of ['enable', 'show', 'rotate', 'disable'])
      expect(await cli.refused(1, 'signing', verb, 'Nobody')).toContain('No account');
    expect(await cli.refused(2, 'signing', 'rotate', account, '--overlap', '24')).toContain(
      '--overlap takes a time span',
    );
  });
});
