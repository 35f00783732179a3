import { userInfo } from 'node:os';
import { beforeEach, expect, test } from '@jest/globals';
import { run, useCli } from './run.ts';

const cli = useCli();
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
  expect(secrets).toEqual([expect.objectContaining({ expires_at: null }), { ...old, expires_at: expect.any(String) }]);
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
