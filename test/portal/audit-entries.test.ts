import { beforeEach, describe, expect, test } from '@jest/globals';
import { listAudit } from '@orders/database/audit.ts';
import { createInvitation } from '@orders/database/users/invitations.ts';
import { openPageAs } from '../harness/browser.ts';
import { createPerson, openPortalClient, type PortalClient, signIn, type TestPerson } from '../harness/people.ts';
import { testWith } from '../harness/programs.ts';
import { readMetrics } from '../harness/read-metrics.ts';
import { useStack } from '../harness/use-stack.ts';

const testInBrowser = testWith('chromium');
let user: TestPerson;
let operator: TestPerson;

const { stack, knex, db, portal, account } = useStack({ portal: true, account: 'each test' });

beforeEach(async () => {
  await knex('audit_events').delete();
  await knex('sign_in_attempts').delete();
  user = await createPerson(stack, account.id);
  operator = await createPerson(stack, null);
});

const HASH = /^[\da-f]{16}$/;
const NETWORK = expect.stringMatching(/^network:[\da-f]{16}$/);

/** Oldest first, without id and time. */
async function entries(filter: object = {}): Promise<Record<string, unknown>[]> {
  const rows = await knex('audit_events').where(filter).orderBy('event_id');
  return rows.map(({ account_id, actor, action, subject, details }) => ({
    account_id,
    actor,
    action,
    subject,
    details,
  }));
}
const actions = async () => (await entries()).map(({ action }) => action);

async function attempt(email: string, password: string, network = '203.0.113.1'): Promise<number> {
  const { status } = await fetch(`${portal.url}/api/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: portal.url, 'X-Forwarded-For': network },
    body: JSON.stringify({ email, password }),
  });
  return status;
}

describe('signing in', () => {
  test('signing in and out are recorded for the account, with a hash of the network', async () => {
    const client = await signIn(portal, user);
    expect((await client.delete('/session')).status).toBe(204);
    // Without a session there is nothing to end.
    expect((await client.delete('/session')).status).toBe(204);
    const { email } = user;
    const about = { account_id: account.id, actor: email, subject: `user:${email}` };
    expect(await entries()).toEqual([
      { ...about, action: 'signed_in', details: { network: expect.stringMatching(HASH) } },
      { ...about, action: 'signed_out', details: null },
    ]);
  });

  test('an invitation that is accepted signs in', async () => {
    const invited = { email: 'new@example.test', role: 'operator', accountId: null } as const;
    const token = await createInvitation(db, invited, 'test', 3_600_000);
    const before = await counter('portal_new_operators_total');
    const accept = { token, name: 'New', password: 'long enough to be good' };
    expect((await openPortalClient(portal).post('/invitations/accept', accept)).status).toBe(204);
    expect(await actions()).toEqual(['invitation_accepted', 'signed_in']);
    expect(await counter('portal_new_operators_total')).toBe(before + 1);
    // A link for a new password makes no new operator, and one for another user neither.
    for (const person of [invited, { ...user, role: 'account_holder' as const }]) {
      const again = await createInvitation(db, person, 'test', 3_600_000);
      expect((await openPortalClient(portal).post('/invitations/accept', { ...accept, token: again })).status).toBe(
        204,
      );
    }
    expect(await counter('portal_new_operators_total')).toBe(before + 1);
  });

  test('a failure names the user, the network by its hash, and neither address nor password', async () => {
    const before = await refused();
    expect(await attempt(user.email, 'my secret guess', '203.0.113.7')).toBe(401);
    expect(await attempt(operator.email, 'my secret guess', '203.0.113.8')).toBe(401);
    expect(await entries()).toEqual([
      {
        account_id: account.id,
        actor: NETWORK,
        action: 'sign_in_failed',
        subject: `user:${user.email}`,
        details: null,
      },
      { account_id: null, actor: NETWORK, action: 'sign_in_failed', subject: `user:${operator.email}`, details: null },
    ]);
    const [first, second] = await entries();
    expect(first?.actor).not.toBe(second?.actor);
    const stored = JSON.stringify([await entries(), await knex('sign_in_attempts')]);
    for (const secret of ['my secret guess', '203.0.113']) expect(stored).not.toContain(secret);
    expect(await refused()).toBe(before + 2);
    expect(portal.log.text()).not.toContain(first?.actor as string);
  });

  test('an e-mail address of nobody is stored as a hash, which another key changes', async () => {
    expect(await attempt('nobody@example.test', 'x')).toBe(401);
    expect(await attempt('Nobody@example.test', 'x', '203.0.113.2')).toBe(401);
    const about = { account_id: null, actor: NETWORK, action: 'sign_in_failed', details: null };
    const subject = expect.stringMatching(/^email:[\da-f]{16}$/);
    const [first, second] = await entries();
    expect([first, second]).toEqual([
      { ...about, subject },
      { ...about, subject },
    ]);
    expect(first?.subject).toBe(second?.subject);
    const other = await stack.portal({ SECRETS_KEY: Buffer.alloc(32, 1).toString('base64') });
    const reply = await openPortalClient(other).post('/session', { email: 'nobody@example.test', password: 'x' });
    expect(reply.status).toBe(401);
    expect((await entries()).at(-1)?.subject).not.toBe(first?.subject);
    await other.close();
  });

  test('a wrong current password is a failure too', async () => {
    const client = await signIn(portal, user);
    await client.post('/password', { current_password: 'wrong', new_password: 'a new one that is long' });
    expect(await actions()).toEqual(['signed_in', 'sign_in_failed']);
  });

  test('a lock-out is recorded once, for the address from the network, the network, and the address', async () => {
    const locked = () => entries({ action: 'sign_in_locked' });
    const entry = { actor: NETWORK, action: 'sign_in_locked', subject: `user:${user.email}`, account_id: account.id };
    const counters = () => knex('sign_in_attempts');
    for (let count = 0; count < 14; count += 1) await attempt(user.email, 'x');
    expect(await locked()).toEqual([{ ...entry, details: { locked: 'emailFromNetwork' } }]);

    await counters().delete();
    await attempt('nobody@example.test', 'x');
    await counters().update({ attempts: 50 });
    for (let count = 0; count < 3; count += 1) expect(await attempt(user.email, 'x')).toBe(429);
    expect((await locked()).slice(1)).toEqual([{ ...entry, details: { locked: 'network' } }]);

    await counters().delete();
    await attempt(user.email, 'x');
    await counters().update({ attempts: 100 });
    for (let count = 0; count < 3; count += 1) expect(await attempt(user.email, 'x', '198.51.100.4')).toBe(429);
    expect((await locked()).slice(2)).toEqual([{ ...entry, details: { locked: 'email' } }]);
  });

  test('failures from one network have ten entries, those of users and others each, and the next one tells how many more', async () => {
    for (let count = 0; count < 13; count += 1) expect(await attempt(`nobody-${count}@example.test`, 'x')).toBe(401);
    expect(await attempt(user.email, 'x')).toBe(401);
    expect((await entries({ account_id: null })).filter(({ action }) => action === 'sign_in_failed')).toHaveLength(10);
    expect(await entries({ account_id: account.id })).toMatchObject([{ action: 'sign_in_failed', details: null }]);
    await attempt('another@example.test', 'x', '203.0.113.5');
    expect((await entries()).at(-1)).toMatchObject({ action: 'sign_in_failed', details: { more: 3 } });
    await attempt('another@example.test', 'x', '203.0.113.6');
    expect((await entries()).at(-1)).toMatchObject({ action: 'sign_in_failed', details: null });
  });

  test('failures from all networks have two hundred entries', async () => {
    await attempt('nobody@example.test', 'x');
    // All counters are at the number of this one.
    const counters = await knex('sign_in_attempts').pluck('key');
    expect(counters).toHaveLength(7);
    await knex('sign_in_attempts').update({ attempts: 199 });
    for (let network = 10; network < 15; network += 1)
      await attempt(`a${network}@example.test`, 'x', `203.0.${network}.1`);
    // One more had room.
    expect(await entries({ action: 'sign_in_failed' })).toHaveLength(2);
    await knex('sign_in_attempts')
      .where('attempts', '>', 199)
      .update({ window_to: new Date(0) });
    await attempt('b@example.test', 'x', '203.0.20.1');
    expect((await entries()).at(-1)).toMatchObject({ details: { more: 4 } });
  });
});

describe("an operator's reads", () => {
  const READS: [string, string, object?][] = [
    ['/orders', 'orders'],
    ['/orders/updates?after=0', 'orders'],
    ['/orders/ids', 'orders'],
    ['/orders/search?q=a', 'search'],
    ['/orders?q=Aisha', 'search'],
    ['/Orders/?q=Aisha', 'search'],
    ['/orders/17', 'order'],
    ['/receipts', 'receipts'],
    ['/receipts/search?q=x', 'receipts'],
    ['/receipts/01a1f9bd-9a17-7354-8023-e51a3a7d2f89', 'receipt'],
    ['/sources/1/deliveries', 'receipt'],
    ['/sources/1/deliveries/01a1f9bd-9a17-7354-8023-e51a3a7d2f89', 'receipt'],
    ['/audit', 'activity'],
  ];

  test.each(READS)('%s is recorded as %s, and visible to the user of the account', async (path, kind) => {
    const client = await signIn(portal, operator);
    await client.get(`/accounts/${account.id}${path}`);
    const { body } = await (await signIn(portal, user)).get(`/accounts/${account.id}/audit`);
    const reads = body.events.filter(({ action }: { action: string }) => action === 'personal_data_read');
    expect(reads).toMatchObject([
      { account_id: account.id, actor: operator.email, subject: `account:${account.id}`, details: { kind } },
    ]);
    expect(JSON.stringify(reads)).not.toContain('Aisha');
  });

  test('polling has one entry for an account and kind within ten minutes', async () => {
    const client = await signIn(portal, operator);
    const other = await stack.account();
    const poll = (id: number) => client.get(`/accounts/${id}/orders/updates?after=0`);
    await Promise.all([poll(account.id), poll(account.id), poll(account.id), poll(other.id)]);
    const reads = () => entries({ action: 'personal_data_read' });
    expect(await reads()).toHaveLength(2);
    await knex('sign_in_attempts').update({ window_to: new Date(0) });
    await poll(account.id);
    expect(await reads()).toHaveLength(3);
  });

  test('the log of all accounts is recorded, also for one account', async () => {
    const client = await signIn(portal, operator);
    await client.get('/operator/audit');
    await client.get(`/operator/audit?account_id=${account.id}`);
    const read = { actor: operator.email, action: 'personal_data_read', details: { kind: 'activity' } };
    expect(await entries({ action: 'personal_data_read' })).toEqual([
      { ...read, account_id: null, subject: 'accounts' },
      { ...read, account_id: account.id, subject: `account:${account.id}` },
    ]);
  });

  test('a user reads the own account without an entry, and sees no entry of others', async () => {
    const client = await signIn(portal, user);
    for (const [path] of READS) await client.get(`/accounts/${account.id}${path}`);
    expect(await actions()).toEqual(['signed_in']);
    const other = await createPerson(stack);
    await signIn(portal, other);
    await attempt(other.email, 'x');
    await attempt('nobody@example.test', 'x');
    const { body } = await client.get(`/accounts/${account.id}/audit`);
    expect(body.events.map(({ action }: { action: string }) => action)).toEqual(['signed_in']);
  });

  test('without an entry there is no read', async () => {
    const client: PortalClient = await signIn(portal, operator);
    await knex.raw(`
      create function refuse_entries() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
      create trigger refuse_entries before insert on audit_events for each row execute function refuse_entries()`);
    const reply = await client.get(`/accounts/${account.id}/orders`);
    await knex.raw('drop function refuse_entries() cascade');
    expect(reply.status).toBe(500);
    expect(reply.body.orders).toBeUndefined();
    expect((await client.get(`/accounts/${account.id}/orders`)).status).toBe(200);
  });
});

test('what reveals a secret or exports orders is recorded each time', async () => {
  const client = await signIn(portal, operator);
  const at = `/accounts/${account.id}`;
  await client.post(`${at}/signing/reveal`);
  await client.post(`${at}/signing/reveal`);
  expect(await actions()).toEqual(['signed_in', 'signing_secret_revealed', 'signing_secret_revealed']);
});

testInBrowser('the activity log shows all of it in words, in both languages', async () => {
  const operatorClient = await signIn(portal, operator);
  for (let count = 0; count < 11; count += 1) await attempt(user.email, 'x');
  for (let count = 0; count < 11; count += 1) await attempt(`nobody-${count}@example.test`, 'x', '203.0.113.9');
  await attempt('nobody@example.test', 'x', '203.0.113.10');
  for (const path of ['/orders', '/orders?q=x', '/orders/17', '/receipts', '/audit'])
    await operatorClient.get(`/accounts/${account.id}${path}`);
  await operatorClient.get(`/receipts/01a1f9bd-9a17-7354-8023-e51a3a7d2f89`);
  const page = await openPageAs(portal, operator, '/operator/log');
  await page.getByText('Viewed personal data').first().waitFor();
  const text = await page.locator('table').textContent();
  for (const words of [
    'Signed in',
    'Failed to sign in',
    'Was locked out',
    'Somebody from network',
    'Unknown e-mail address',
  ])
    expect(text).toContain(words);
  expect(text).toContain('Not listed before it: 1');
  expect(text).toContain('What: searches of orders');
  expect(text).toContain('Locked: this e-mail address from this network');
  expect(text).not.toMatch(/sign_in|signed_|personal_data|emailFromNetwork|network:|email:/);
});

async function counter(name: string): Promise<number> {
  const samples = (await readMetrics(portal.adminUrl)).get(name)?.samples ?? [];
  expect(samples).not.toEqual([]);
  return samples.reduce((sum, { value }) => sum + value, 0);
}
const refused = () => counter('portal_refused_sign_ins_total');

test('both languages have words for the same actions, details and values', async () => {
  const [en, ar] = await Promise.all(
    ['en', 'ar'].map(
      async (language) =>
        (await import(`../../apps/portal/page/src/locales/${language}/audit.json`, { with: { type: 'json' } })).default,
    ),
  );
  for (const { action } of await listAudit(db, { limit: 100 })) {
    expect(en.action).toHaveProperty(action);
    expect(ar.action).toHaveProperty(action);
  }
  for (const part of ['action', 'about', 'detail']) expect(Object.keys(ar[part])).toEqual(Object.keys(en[part]));
  for (const part of ['locked', 'kind', 'review_target_minutes'])
    expect(Object.keys(ar.value[part])).toEqual(Object.keys(en.value[part]));
});
