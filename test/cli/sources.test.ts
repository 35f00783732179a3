import { beforeEach, describe, expect, test } from '@jest/globals';
import { unseal } from '@orders/database/accounts/seal.ts';
import { PRESETS } from '@orders/domain/sources/presets.ts';
import { until } from '@orders/test-services/until.ts';
import type { Reply } from '../harness/api.ts';
import { useDirectory } from '../harness/directory.ts';
import { wooCommerceHeaders } from '../harness/sources.ts';
import { useStack } from '../harness/use-stack.ts';
import { run, SECRETS_KEY, useCli } from './run.ts';

const cli = useCli();
const files = useDirectory();
let account: string;

beforeEach(async () => {
  account = String((await cli.json('accounts', 'create', 'Lamp Shop')).account_id);
});

const create = (preset: string, ...more: string[]) =>
  cli.json('sources', 'create', account, '--preset', preset, '--name', 'Web shop', ...more);
const actions = async () =>
  (await cli.audit(account)).slice(1).map(({ action, subject, details }) => [action, subject, details]);

/** The current secret of a source and the one before. */
async function storedSecrets(sourceNumber: number): Promise<(string | null)[]> {
  const [row] = await cli.knex('sources').where({ account_id: account, source_number: sourceNumber });
  const key = Buffer.from(SECRETS_KEY, 'base64');
  return [row.sealed, row.previous_sealed].map((sealed) => sealed && unseal(key, Number(account), sealed));
}

test('create prints the URL, and the secret once; list and show never print it', async () => {
  const created = await create('woocommerce');
  expect(created).toMatchObject({
    source_id: expect.stringMatching(/^src_\w{43}$/),
    path: `/ingest/sources/${created.source_id}`,
    url: null,
    secret: expect.stringMatching(/^oss_\w{43}$/),
    preset: 'woocommerce',
    name: 'Web shop',
    settings: PRESETS.woocommerce.settings,
    mapping_version: 1,
  });
  const number = String(created.source_number);
  const listed = await cli.json('sources', 'list', account);
  expect(listed).toMatchObject([{ source_id: created.source_id, last_delivery_at: null, deliveries: {} }]);
  const shown = await cli.json('sources', 'show', account, number);
  expect(shown).toMatchObject({ source_id: created.source_id, mapping: PRESETS.woocommerce.mapping });
  const texts = [await cli.run('sources', 'list', account), await cli.run('sources', 'show', account, number)];
  expect(texts[0]?.stdout).toMatch(/^SOURCE {2}NAME .*\n +\d+ {2}Web shop {2}woocommerce +1 {2}- +-\n$/);
  expect(texts[1]?.stdout).toContain('HMAC with sha256 in x-wc-webhook-signature, base64');
  expect(JSON.stringify([listed, shown, texts])).not.toContain(created.secret);
  expect(await actions()).toEqual([
    ['source_created', `source:${number}`, { name: 'Web shop', preset: 'woocommerce' }],
  ]);
});

test('with INTAKE_URL the whole URL is printed', async () => {
  const args = ['sources', 'create', account, '--preset', 'custom', '--name', 'Till'];
  const env = { DATABASE_URL: cli.url, SECRETS_KEY, INTAKE_URL: 'https://orders.example.com/api/' };
  const { stdout } = await run([...args, '--json'], env);
  const { url, path } = JSON.parse(stdout);
  expect(url).toBe(`https://orders.example.com/api${path}`);
  expect((await run(args, env)).stdout).toContain('https://orders.example.com/api/ingest/sources/src_');
  expect((await cli.run(...args)).stdout).toMatch(/path {2,}\/ingest\/sources\/src_.*set INTAKE_URL/s);
  expect((await run(args, { ...env, INTAKE_URL: 'orders' })).stderr).toContain('INTAKE_URL');
});

test('a given secret is stored without the line break of its file, and not printed', async () => {
  const secret = 'secret of the platform';
  const file = await files.write('secret.txt', `${secret}\n`);
  const created = await create('shopify', '--secret-file', file);
  expect(created).not.toHaveProperty('secret');
  expect(await storedSecrets(created.source_number)).toEqual([secret, null]);
  expect(JSON.stringify(await cli.run('sources', 'show', account, 'Web shop'))).not.toContain(secret);
});

test('of Shopify, the text says where its own secret goes', async () => {
  const { stdout } = await cli.run('sources', 'create', account, '--preset', 'shopify', '--name', 'S');
  expect(stdout).toMatch(/Shopify signs with a secret of its own.*sources rotate \d+ \d+ --secret-file/);
});

test('a mapping and settings may come from files', async () => {
  const signature = { scheme: 'token', header: 'X-Token' };
  const settings = await files.write('settings.json', JSON.stringify({ signature }));
  const mapping = { source_order_id: '/no', items: [{ name: '/item' }] };
  const map = await files.write('map.json', `\uFEFF${JSON.stringify(mapping)}`);
  const { source_number } = await create('custom', '--settings', settings, '--map', map);
  expect(await cli.json('sources', 'show', account, String(source_number))).toMatchObject({
    settings: { signature: { scheme: 'token', header: 'x-token' } },
    mapping,
  });
});

test('a source is named by its number, its id, or its name if that is unique', async () => {
  const first = await create('custom');
  const number = String(first.source_number);
  for (const reference of [number, first.source_id, 'Web shop'])
    expect(await cli.json('sources', 'show', account, reference)).toMatchObject({ source_id: first.source_id });
  const second = await create('custom');
  expect(await cli.refused(1, 'sources', 'show', account, 'Web shop')).toBe(
    `More than one source of account ${account} has this name; use the number: ${number}, ${second.source_number}.`,
  );
  const other = (await cli.json('accounts', 'create', 'Other')).account_id;
  for (const reference of [number, first.source_id, 'Web shop', '99999999999999999999'])
    expect(await cli.refused(1, 'sources', 'show', String(other), reference)).toMatch(
      /^No source of account \d+ has .*; orders sources list \d+ shows them all\.$/,
    );
});

test('a source has the prefix of its name or another one, until it has an order', async () => {
  expect(await create('custom')).toMatchObject({ id_prefix: 'web-shop', used_at: null });
  expect(await create('custom', '--prefix', '')).toMatchObject({ id_prefix: '' });
  const { source_number, id_prefix } = await create('custom', '--prefix', 'till');
  expect(id_prefix).toBe('till');
  const number = String(source_number);
  const change = ['sources', 'prefix', account, number];
  expect((await cli.run(...change, 'bakery')).stdout).toContain(`order ids of source ${number} begin with bakery: now`);
  expect((await cli.run('sources', 'show', account, number)).stdout).toMatch(/order ids +bakery: and the id/);
  expect(await cli.refused(1, ...change, 'web-shop')).toContain('Another source of this account has this prefix');
  expect(await cli.refused(2, ...change, 'Web shop')).toContain('lower-case letters');
  await cli.knex('sources').where({ source_number }).update({ used_at: new Date() });
  expect(await cli.refused(1, ...change, 'till')).toContain('can no longer be changed');
});

test('map prints the mapping in its sequence, and stores a new version', async () => {
  const { source_number } = await create('woocommerce');
  const number = String(source_number);
  const printed = await cli.run('sources', 'map', account, number);
  expect(printed.stdout).toBe((await cli.run('sources', 'map', '--preset', 'woocommerce')).stdout);
  expect(JSON.parse(printed.stdout)).toEqual(PRESETS.woocommerce.mapping);
  expect(Object.keys(JSON.parse(printed.stdout))[0]).toBe('source_order_id');
  const mapping = { source_order_id: '/number', total: '/total' };
  const file = await files.write('new.json', JSON.stringify(mapping));
  expect(await cli.json('sources', 'map', account, number, '--file', file)).toEqual({
    account_id: Number(account),
    source_number,
    mapping_version: 2,
    mapping,
  });
  expect(await cli.json('sources', 'map', account, number)).toEqual(mapping);
  expect((await actions()).at(-1)).toEqual([
    'source_mapping_changed',
    `source:${number}`,
    { name: 'Web shop', version: 2 },
  ]);
  const versions = await cli.knex('source_mappings').where({ source_number }).orderBy('version');
  expect(versions).toMatchObject([{ version: 1 }, { version: 2, created_by: expect.stringMatching(/^operator:/) }]);
});

test('map --check prints the order and its warnings, and stores nothing', async () => {
  const { source_number } = await create('woocommerce');
  const body = { id: 12345678901234567890n, number: '727', shipping: { state: 'Sharjha' }, total: '49' };
  const text = JSON.stringify(body, (_, value) => (typeof value === 'bigint' ? '#' : value));
  const delivery = await files.write('delivery.json', text.replace('"#"', String(body.id)));
  const check = (...more: string[]) => cli.json('sources', 'map', ...more, '--check', delivery);
  const checked = await check(account, String(source_number));
  expect(checked).toMatchObject({
    payload: { source_order_id: '12345678901234567890', order_number: '727', emirate: 'Sharjha', total: '49' },
    order: { source_order_id: '12345678901234567890', emirate: 'Sharjah', total: '49' },
    warnings: expect.arrayContaining([expect.objectContaining({ pointer: '/emirate' })]),
  });
  expect(await check('--preset', 'woocommerce')).toEqual(checked);
  const file = await files.write('other.json', '{"source_order_id": "/number"}');
  expect(await check(account, 'Web shop', '--file', file)).toMatchObject({ payload: { source_order_id: '727' } });
  const { stdout } = await cli.run('sources', 'map', account, 'Web shop', '--check', delivery);
  expect(stdout).toMatch(/source order +12345678901234567890\n.*warnings +\/emirate/s);
  expect(await cli.json('sources', 'show', account, 'Web shop')).toMatchObject({ mapping_version: 1 });
});

test('map --check says when a delivery becomes no order', async () => {
  const check = async (text: string) =>
    cli.refused(1, 'sources', 'map', '--preset', 'shopify', '--check', await files.write('delivery.json', text));
  expect(await check('{"number": 1}')).toMatch(/^The mapping finds no source_order_id in .*mapping_failed\.$/);
  expect(await check(JSON.stringify({ id: 'x'.repeat(300) }))).toMatch(/source_order_id/);
  expect(
    await cli.refused(2, 'sources', 'map', '--preset', 'shopify', '--check', await files.write('d', 'no')),
  ).toMatch(/^--check: The body is not JSON/);
});

test('rotate replaces the URL, or the secret with an overlap', async () => {
  const created = await create('custom');
  const number = String(created.source_number);
  const rotate = (...more: string[]) => cli.json('sources', 'rotate', account, number, ...more);
  const moved = await rotate('--url');
  expect(moved.source_id).not.toBe(created.source_id);
  expect(moved).not.toHaveProperty('secret');
  const rotated = await rotate('--secret');
  expect(rotated.secret).toMatch(/^oss_/);
  expect(await storedSecrets(created.source_number)).toEqual([rotated.secret, created.secret]);
  expect((Date.parse(rotated.previous_until) - Date.now()) / 3_600_000).toBeCloseTo(24, 1);
  expect((await cli.run('sources', 'show', account, number)).stdout).toMatch(/old secret +accepted until/);
  const file = await files.write('secret.txt', 'copied from the platform\n');
  const copied = await rotate('--secret-file', file, '--overlap', '0');
  expect(copied).toMatchObject({ previous_until: null });
  expect(copied).not.toHaveProperty('secret');
  expect((await storedSecrets(created.source_number))[0]).toBe('copied from the platform');
  expect((await actions()).slice(1)).toEqual([
    ['source_url_replaced', `source:${number}`, { name: 'Web shop' }],
    ['source_secret_replaced', `source:${number}`, { name: 'Web shop', overlap_ms: 86_400_000 }],
    ['source_secret_replaced', `source:${number}`, { name: 'Web shop', overlap_ms: 0 }],
  ]);
});

test('a removed source is gone; its number cannot be used again', async () => {
  const { source_number } = await create('custom');
  const number = String(source_number);
  expect(await cli.json('sources', 'remove', account, number)).toEqual({
    account_id: Number(account),
    source_number,
    removed: true,
  });
  expect(await cli.json('sources', 'list', account)).toEqual([]);
  expect((await cli.run('sources', 'list', account)).stdout).toBe('The account has no sources.\n');
  for (const words of [['show'], ['remove'], ['map'], ['rotate', '--url']])
    expect(await cli.refused(1, 'sources', words[0] as string, account, number, ...words.slice(1))).toMatch(
      /^No source of account/,
    );
  expect((await actions()).at(-1)).toEqual(['source_removed', `source:${number}`, { name: 'Web shop' }]);
});

test('deliveries of the last seven days are counted', async () => {
  const { source_number } = await create('shopify');
  const day = new Date().toISOString().slice(0, 10);
  await cli.knex('source_activity').insert([
    { account_id: account, source_number, day, outcome: 'order', count: 7, last_at: new Date(), receipt_ids: [] },
    { account_id: account, source_number, day, outcome: 'rejected', count: 1, last_at: new Date(0), receipt_ids: [] },
  ]);
  expect(await cli.json('sources', 'list', account)).toMatchObject([
    { deliveries: { order: 7, rejected: 1 }, last_delivery_at: expect.stringContaining(day) },
  ]);
  expect((await cli.run('sources', 'list', account)).stdout).toContain('7 order, 1 rejected');
});

test('an account has at most 50 sources', async () => {
  const row = { account_id: account, name: 'x', preset: 'custom', settings: '{}', mapping: '{}' };
  await cli.knex('sources').insert(Array.from({ length: 50 }, (_, at) => ({ ...row, source_id: `s${at}` })));
  expect(await cli.refused(1, 'sources', 'create', account, '--preset', 'custom', '--name', 'x')).toMatch(/50/);
});

test.each([
  ['no preset', ['create', '1', '--name', 'x'], /^required option '--preset <preset>' not specified/],
  ['an unknown preset', ['create', '1', '--preset', 'unknown-shop', '--name', 'x'], /Allowed choices are shopify/],
  ['no name', ['create', '1', '--preset', 'custom'], /^required option '--name <name>'/],
  ['neither URL nor secret', ['rotate', '1', '1'], /^Give --url, or --secret or --secret-file/],
  ['both', ['rotate', '1', '1', '--url', '--secret'], /^Give --url, or/],
  ['an account without a source', ['map', '1'], /^Give an account and a source, or only --preset/],
  ['a source and a preset', ['map', '1', '1', '--preset', 'custom'], /^Give an account and a source, or only/],
  ['no such file', ['map', '1', '1', '--file', '/nonexistent'], /^The file of --file cannot be read \(ENOENT\)/],
])('%s is a usage error', async (_, args, line) => {
  expect(await cli.refused(2, 'sources', ...args)).toMatch(line);
});

test.each([
  ['{"source_order_id": "id"}', '--map: /source_order_id: Write a JSON Pointer such as /billing/phone'],
  ['{"custmer": {"phone": "/p"}}', '/custmer: This is no field of a mapping. Did you mean customer?'],
  [
    '{"source_order_id": "/id", "customer": {"mobile": "/p"}}',
    '/customer/mobile: This is no field of a mapping. Did you mean customer.phone?',
  ],
  ['{"source_order_id": "/id", "Remarks": "/p"}', 'Did you mean delivery_instructions?'],
  ['[]', '--map: the file: This must be an object.'],
  ['{', 'The file of --map is not JSON'],
])('the mapping %s is refused with the place of each error', async (text, line) => {
  const map = await files.write('wrong.json', text);
  expect(
    await cli.refused(2, 'sources', 'create', account, '--preset', 'custom', '--name', 'x', '--map', map),
  ).toContain(line);
});

test('wrong settings and secrets are refused without repeating them', async () => {
  const settings = await files.write('wrong.json', '{"signature": {"scheme": "hmac", "header": "a b"}}');
  const refused = (preset: string, ...more: string[]) =>
    cli.refused(2, 'sources', 'create', account, '--preset', preset, '--name', 'x', ...more);
  expect(await refused('custom', '--settings', settings)).toMatch(/^--settings: \/signature\/header: /);
  expect(await refused('shopify', '--settings', settings)).toContain('no setting that the preset lets you choose');
  const secret = await files.write('secret.txt', 'whsec_dG9vc2hvcnR0b29zaG9ydA==');
  const line = await refused('standard-webhooks', '--secret-file', secret);
  expect(line).toMatch(/^--secret-file: The secret must be whsec_ and the base64 of at least 24 bytes/);
  expect(line).not.toContain('dG9v');
});

describe('beside a running service', () => {
  const { stack, api, account: own } = useStack({ intake: true, worker: true, account: true });

  /** Runs a command as an operator beside this stack. */
  async function operate(...argv: string[]) {
    const { code, stdout, stderr } = await run([...argv, '--json'], { ...stack.env, INTAKE_URL: api.url });
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout);
  }
  const deliver = (url: string, secret: string, order: object): Promise<Reply> => {
    const body = JSON.stringify(order);
    const path = url.slice(api.url.length);
    return api.send('POST', path, wooCommerceHeaders(body, 'order.created', secret), body);
  };
  const stateOf = async ({ body }: Reply) => (await api.final(own, body.receipt_id)).body;

  test('a shop that uses what the commands print gets its orders written, also through changes of everything', async () => {
    const reference = String(own.id);
    const create = ['sources', 'create', reference, '--preset', 'woocommerce', '--name', 'Web shop'];
    const { url, secret } = await operate(...create);
    expect(await stateOf(await deliver(url, secret, { id: 727, number: '727' }))).toMatchObject({ status: 'written' });
    expect(await deliver(url, `${secret}x`, { id: 728 })).toMatchObject({ status: 401 });

    // A delivery that the mapping cannot read is mapped again by a redrive, once the mapping is right.
    const unmapped = await deliver(url, secret, { order_key: 'wc-1', number: '729' });
    expect(await stateOf(unmapped)).toMatchObject({ status: 'dead' });
    const early = await run(['receipts', 'redrive', unmapped.body.receipt_id], stack.env);
    expect([early.code, early.stderr]).toEqual([1, expect.stringMatching(/ is still dead: the mapping of its source/)]);
    const map = await files.write(
      'map.json',
      JSON.stringify({ source_order_id: ['/id', '/order_key'], total: '/total' }),
    );
    await operate('sources', 'map', reference, 'Web shop', '--file', map);
    await operate('receipts', 'redrive', unmapped.body.receipt_id);
    expect(await stateOf(unmapped)).toMatchObject({ status: 'written', source_order_id: 'web-shop:wc-1' });

    const rotated = await operate('sources', 'rotate', reference, 'Web shop', '--secret');
    await until('the new secret', async () => (await deliver(url, rotated.secret, { id: 730 })).status === 202);
    expect(await deliver(url, secret, { id: 731 })).toMatchObject({ status: 202 });

    const moved = await operate('sources', 'rotate', reference, 'Web shop', '--url');
    expect(await deliver(moved.url, rotated.secret, { id: 732 })).toMatchObject({ status: 202 });
    await until('the end of the old URL', async () => (await deliver(url, rotated.secret, { id: 733 })).status === 404);
    await operate('sources', 'remove', reference, 'Web shop');
    await until('the removal', async () => (await deliver(moved.url, rotated.secret, { id: 734 })).status === 404);
  });
});
