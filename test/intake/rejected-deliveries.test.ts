import { describe, expect, test } from '@jest/globals';
import { setSignedOnly, setSuspended } from '@orders/database/accounts/accounts.ts';
import { createKey } from '@orders/database/accounts/api-keys.ts';
import { rotateSigning } from '@orders/database/accounts/signing-secrets.ts';
import { listRejected, pruneRejected, type RejectedDelivery } from '@orders/database/rejected-deliveries.ts';
import { REJECTIONS } from '@orders/domain/rejections.ts';
import { until } from '@orders/test-services/until.ts';
import { lockTables, whoWait } from '../harness/barriers.ts';
import { moveClock, stopClock } from '../harness/clock.ts';
import { sign } from '../harness/hashes.ts';
import { readGauge } from '../harness/read-metrics.ts';
import type { RunningIntake, TestAccount } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, db, intake } = useStack({ intake: true });

/** Waits until the log of the account has `count` rows. */
async function logOf({ id }: TestAccount, count: number): Promise<RejectedDelivery[]> {
  return until(`${count} rejected deliveries`, async () => {
    const rows = await listRejected(db, id, 1000);
    return rows.length >= count && rows;
  });
}

const ORDER = '{"source_order_id":"rejected-1","customer":{"name":"Somebody"}}';

describe('the log of rejected deliveries', () => {
  const json = { 'Content-Type': 'application/json' };
  const cases: [code: string, diagnosis: string | null, channel: string, headers: object, body: string][] = [
    ['missing_signature', null, 'webhook', json, ORDER],
    ['missing_signature', 'another_header', 'webhook', { ...json, 'X-Hub-Signature-256': 'x' }, ORDER],
    ['invalid_signature', 'malformed_header', 'webhook', { ...json, 'x-service-signature': 'sha256=no' }, ORDER],
    ['unsupported_media_type', 'plain_text', 'rest', { 'Content-Type': 'text/plain; a=Somebody' }, ORDER],
    ['unsupported_content_encoding', null, 'rest', { ...json, 'Content-Encoding': 'gzip' }, ORDER],
    ['payload_too_large', null, 'rest', json, ORDER + ' '.repeat(300_000)],
    ['malformed_body', 'trailing_comma', 'rest', json, '{"source_order_id":"Somebody",}'],
    ['validation_failed', null, 'rest', json, '{"source_order_id":7}'],
    [
      'validation_failed',
      null,
      'rest',
      { ...json, Prefer: 'handling=strict' },
      `{"source_order_id":"x","total":"Somebody"}`,
    ],
    ['invalid_idempotency_key', null, 'rest', { ...json, 'Idempotency-Key': 'Some body' }, ORDER],
  ];

  test.each(cases)(
    'lists %s (%s) without anything of the sent content',
    async (code, diagnosis, channel, headers, body) => {
      const account = await stack.account({ signing: true });
      const path = channel === 'rest' ? '/ingest/orders' : '/ingest/webhook';
      const reply = await intake.api.send('POST', path, { Authorization: `Bearer ${account.key}`, ...headers }, body);
      expect(reply.body.code).toBe(code);
      const [row, ...others] = await logOf(account, 1);
      expect(others).toEqual([]);
      expect(row).toMatchObject({ code, diagnosis, channel, request_id: reply.body.request_id, more: 0 });
      expect(row?.body_bytes).toBe(body.length);
      expect(row?.errors).toEqual(
        reply.body.errors?.map(({ pointer, code }: { pointer: string; code: string }) => ({ pointer, code })) ?? null,
      );
      expect(JSON.stringify(row)).not.toMatch(/somebody|some body/i);
    },
  );

  test('lists a rejection whose field name is cut inside a character', async () => {
    const [one, other] = [await stack.account(), await stack.account()];
    const body = JSON.stringify({ source_order_id: 'x', [`${'n'.repeat(198)}😀`]: 1 });
    const strict = { ...json, Prefer: 'handling=strict' };
    await Promise.all(
      [one, other].map(({ key }) =>
        intake.api.send('POST', '/ingest/orders', { Authorization: `Bearer ${key}`, ...strict }, body),
      ),
    );
    expect((await logOf(one, 1))[0]?.code).toBe('validation_failed');
    expect((await logOf(other, 1))[0]?.code).toBe('validation_failed');
  });

  test('lists a rejection without a diagnosis if a secret cannot be opened', async () => {
    const account = await stack.account({ signing: true });
    await knex('signing_secrets').insert({
      account_id: account.id,
      sealed: Buffer.alloc(60),
      expires_at: new Date(0),
    });
    const headers = { Authorization: `Bearer ${account.key}`, ...json, 'x-service-signature': 'a'.repeat(64) };
    await intake.api.send('POST', '/ingest/webhook', headers, ORDER);
    expect(await logOf(account, 1)).toMatchObject([{ code: 'invalid_signature', diagnosis: null }]);
  });

  test('lists rejections of a suspended account and of one without signing', async () => {
    const account = await stack.account();
    expect((await intake.api.webhook(account, ORDER)).body.code).toBe('signing_unavailable');
    const other = await stack.account();
    await setSuspended(db, other.id, true);
    expect((await intake.api.order(other, ORDER)).body.code).toBe('account_suspended');
    expect(await logOf(account, 1)).toMatchObject([{ code: 'signing_unavailable' }]);
    expect(await logOf(other, 1)).toMatchObject([{ code: 'account_suspended' }]);
  });

  test('lists requests whose key lacks the access, and unsigned ones of an account that accepts signed ones only', async () => {
    const account = await stack.account({ signing: true });
    const reader = await createKey(db, account.id, 'reader', { scopes: ['read'] });
    const elsewhere = await createKey(db, account.id, 'elsewhere', { addresses: ['203.0.113.7'] });
    await setSignedOnly(db, account.id, true);
    const codes = [];
    for (const key of [reader.key, elsewhere.key, account.key])
      codes.push((await intake.api.order({ ...account, key }, ORDER)).body.code);
    expect(codes).toEqual(['insufficient_scope', 'address_not_allowed', 'signature_required']);
    expect(await logOf(account, 3)).toMatchObject(codes.toReversed().map((code) => ({ code, diagnosis: null })));
  });

  test('has a case above for every code', () => {
    const ofAccess = ['address_not_allowed', 'insufficient_scope', 'signature_required'];
    const tested = new Set([...cases.map(([code]) => code), 'signing_unavailable', 'account_suspended', ...ofAccess]);
    expect(tested).toEqual(new Set(Object.keys(REJECTIONS)));
  });

  test('diagnoses a wrong signature with the secrets of its own account, former ones included', async () => {
    const account = await stack.account({ signing: true });
    const other = await stack.account({ signing: true });
    const newer = await rotateSigning(db, stack.secretsKey, account.id, 0);
    const signatures = [
      sign(account.secret, ORDER),
      sign(newer?.secret as string, `${ORDER}\n`),
      sign(other.secret, ORDER),
    ];
    for (const [index, wrong] of signatures.entries()) {
      const reply = await intake.api.webhook(account, ORDER, { 'x-service-signature': wrong });
      expect(reply.body.code).toBe('invalid_signature');
      await logOf(account, index + 1);
    }
    const found = (await logOf(account, 3)).map(({ diagnosis }) => diagnosis);
    expect(found).toEqual(['another_secret', 'trailing_newline', 'previous_secret']);
  });

  test('diagnoses a signature over a timestamp, and over sorted members', async () => {
    const account = await stack.account({ signing: true });
    const sent: [signed: string, headers: Record<string, string>][] = [
      [`v0:1700000000:${ORDER}`, { 'X-Slack-Request-Timestamp': '1700000000' }],
      ['{"customer":{"name":"Somebody"},"source_order_id":"rejected-1"}', {}],
    ];
    for (const [index, [signed, headers]] of sent.entries()) {
      const signature = { 'x-service-signature': sign(account.secret, signed) };
      expect((await intake.api.webhook(account, ORDER, { ...headers, ...signature })).body.code).toBe(
        'invalid_signature',
      );
      await logOf(account, index + 1);
    }
    const rows = await logOf(account, 2);
    expect(rows.map(({ diagnosis }) => diagnosis)).toEqual(['members_sorted', 'timestamp_signed']);
    expect(JSON.stringify(rows)).not.toContain('1700000000');
  });

  test('lists no accepted orders, other routes, unknown keys or rate limits', async () => {
    const account = await stack.account();
    await intake.api.order(account, ORDER);
    await intake.api.preview(account, '{');
    await intake.api.status(account, 'unknown');
    await intake.api.send('GET', '/ingest/orders', { Authorization: `Bearer ${account.key}` });
    await intake.api.order({ ...account, key: 'oik_nobody' }, ORDER);
    await intake.api.order(account, '{');
    expect(await logOf(account, 1)).toMatchObject([{ code: 'malformed_body' }]);
  });
});

describe('a flood of rejections', () => {
  /** The number of listed rows of the account, and of rejections that are only counted. */
  async function countsOf({ id }: TestAccount): Promise<{ listed: number; counted: number }> {
    const rows = await listRejected(db, id, 1000);
    return { listed: rows.length, counted: rows.reduce((sum, { more }) => sum + more, 0) };
  }

  async function sendInvalid({ api }: RunningIntake, account: TestAccount, count: number): Promise<void> {
    const replies = await Promise.all(Array.from({ length: count }, () => api.order(account, '{}')));
    expect(replies.map(({ status }) => status)).toEqual(Array(count).fill(422));
  }
  const unrecorded = ({ adminUrl }: RunningIntake) => readGauge(adminUrl, 'intake_unrecorded_rejections_total');

  test('stores ten rows at once and the number of the others, even if no rejection follows', async () => {
    const own = await stack.intake();
    const account = await stack.account();
    const goOn = stopClock();
    await sendInvalid(own, account, 100);
    await logOf(account, 10);
    expect(await unrecorded(own)).toBe(90);
    // Accounts without a new row for two seconds are quiet.
    await moveClock(3);
    await until('all are accounted for', async () => (await countsOf(account)).counted > 0);
    expect(await countsOf(account)).toEqual({ listed: 10, counted: 90 });
    goOn();
    await own.close();
  });

  test('is counted completely by an intake that closes right afterwards', async () => {
    // The log of rejections gets a twentieth of the time to close.
    const closing = await stack.intake({ DRAIN_TIMEOUT: '1h' });
    const account = await stack.account();
    await sendInvalid(closing, account, 30);
    await closing.close();
    const { listed, counted } = await countsOf(account);
    expect(listed + counted).toBe(30);
  });

  test('is counted after Postgres accepts rows again', async () => {
    const own = await stack.intake();
    const account = await stack.account();
    await own.api.order(account, '{}');
    await logOf(account, 1);
    await knex.raw('alter table rejected_deliveries add constraint shut check (false) not valid');
    await sendInvalid(own, account, 30);
    await until('every row of the 30 was rejected', async () => (await unrecorded(own)) === 30);
    expect(await countsOf(account)).toEqual({ listed: 1, counted: 0 });
    await knex.raw('alter table rejected_deliveries drop constraint shut');
    await until('the 30 are counted', async () => (await countsOf(account)).counted === 30);
    expect(await countsOf(account)).toEqual({ listed: 1, counted: 30 });
    await own.close();
  });

  test('delays no reply and uses little memory while the table is locked', async () => {
    // A new intake with its full budget, and more accounts than may wait.
    const fresh = await stack.intake({ DRAIN_TIMEOUT: '1h' });
    const accounts = await Promise.all(Array.from({ length: 45 }, () => stack.account()));
    const ids = accounts.map(({ id }) => id);
    const locked = await lockTables(knex, 'rejected_deliveries');
    await Promise.all(accounts.map((account) => sendInvalid(fresh, account, 1)));
    expect((await fresh.api.order(accounts[0] as TestAccount, { source_order_id: 'meanwhile' })).status).toBe(202);
    // One statement waits for the lock, and later rows wait for this statement.
    expect(await whoWait(knex, 1, 'relation')).toHaveLength(1);
    await locked.release();
    await fresh.close();
    const rows = await knex('rejected_deliveries').whereIn('account_id', ids);
    expect(rows).toHaveLength(32);
  });

  test('keeps only the newest rejections of an account and none older than a week', async () => {
    const [full, old] = [await stack.account(), await stack.account()];
    const row = { channel: 'rest', code: 'malformed_body', request_id: 'x', key_id: 1 };
    await knex('rejected_deliveries').insert(Array.from({ length: 30 }, () => ({ ...row, account_id: full.id })));
    const ago = (days: number) => new Date(Date.now() - days * 24 * 3_600_000);
    await knex('rejected_deliveries').insert([8, 6].map((days) => ({ ...row, account_id: old.id, at: ago(days) })));
    expect(await pruneRejected(db, 7 * 24 * 3_600_000, 20)).toBeGreaterThanOrEqual(11);
    const left = async ({ id }: TestAccount) => (await listRejected(db, id, 100)).length;
    expect([await left(full), await left(old)]).toEqual([20, 1]);
  });
});

test('use of an old secret is recorded, and use of the newest is not', async () => {
  const account = await stack.account({ signing: true });
  await intake.api.webhook(account, ORDER);
  const newer = await rotateSigning(db, stack.secretsKey, account.id, 3_600_000);
  const secrets = () => knex('signing_secrets').where({ account_id: account.id }).orderBy('secret_id');
  expect((await intake.api.webhook({ ...account, secret: newer?.secret as string }, ORDER)).status).toBe(202);
  expect((await secrets()).map(({ last_used_at }) => last_used_at)).toEqual([null, null]);
  expect((await intake.api.webhook(account, ORDER)).status).toBe(202);
  await until('it is noted', async () => (await secrets())[0].last_used_at);
  expect((await secrets())[1].last_used_at).toBeNull();
});
