import { beforeAll, describe, expect, test } from '@jest/globals';
import { closeDatabase, openDatabase } from '@orders/database/connect.ts';
import { createInvitation } from '@orders/database/users/invitations.ts';
import { hashApiKey } from '@orders/domain/api-key.ts';
import { findAuthenticatedKeys } from '@orders/intake/pipeline/find-authenticated-keys.ts';
import { until } from '@orders/test-services/until.ts';
import { openSeed } from '../cli/seed.ts';
import { expectAccessible, openPage, openPageAs } from '../harness/browser.ts';
import { createPerson, openPortalClient, type PortalClient, signIn, type TestPerson } from '../harness/people.ts';
import { describeWith } from '../harness/programs.ts';
import { QUEUE_KINDS } from '../harness/queue.ts';
import { runCommand } from '../harness/run-command.ts';
import { withStack } from '../harness/stack.ts';
import { isChange, listChanges } from '../harness/stored.ts';
import { useStack } from '../harness/use-stack.ts';

let operator: TestPerson;
let client: PortalClient;

const { stack, knex, db, portal } = useStack({ portal: true });

beforeAll(async () => {
  operator = await createPerson(stack, null);
  client = await signIn(portal, operator);
});

const auditOf = async (accountId: number) =>
  (await listChanges(knex, accountId)).map(({ actor, action }) => [actor, action]).reverse();

describe('for anybody else the operator interface does not exist', () => {
  const ROUTES = [
    ['get', '/operator/accounts'],
    ['post', '/operator/accounts'],
    ['patch', '/operator/accounts/1'],
    ['get', '/operator/users'],
    ['post', '/operator/users'],
    ['delete', '/operator/users/x'],
    ['delete', '/operator/users/x/sessions'],
    ['get', '/operator/changes'],
    ['post', '/operator/changes/1/approve'],
    ['delete', '/operator/changes/1'],
    ['get', '/operator/service'],
    ['get', '/operator/dead'],
    ['get', '/operator/audit'],
    ['get', '/operator/anything'],
  ] as const;

  test('an account holder gets not_found on every route, and nothing changes', async () => {
    const holder = await signIn(portal, await createPerson(stack));
    const nobody = openPortalClient(portal);
    for (const [method, path] of ROUTES) {
      const body = { name: 'Mine', email: 'me@example.test', account_id: null };
      const ask = (asker: PortalClient) =>
        method === 'get' || method === 'delete' ? asker[method](path) : asker[method](path, body);
      expect([path, (await ask(holder)).body.code]).toEqual([path, 'not_found']);
      const code = path === '/operator/anything' ? 'not_found' : 'not_signed_in';
      expect([path, (await ask(nobody)).body.code]).toEqual([path, code]);
    }
    expect(await knex('accounts').where({ name: 'Mine' })).toEqual([]);
    expect(await knex('invitations').where({ email: 'me@example.test' })).toEqual([]);
  });

  test('the audit log of an account is visible to its holder and to operators', async () => {
    const [own, other] = [(await stack.account()).id, (await stack.account()).id];
    const holder = await signIn(portal, await createPerson(stack, own));
    await client.patch(`/operator/accounts/${own}`, { signing: true });
    await client.patch(`/operator/accounts/${other}`, { suspended: true });
    const { body } = await holder.get(`/accounts/${own}/audit`);
    expect(body.events.filter(isChange)).toMatchObject([
      { actor: operator.email, action: 'signing_enabled', account_id: own },
    ]);
    expect((await holder.get(`/accounts/${other}/audit`)).body.code).toBe('account_not_found');
    // A search in the own log does not find events of another account.
    expect((await holder.get(`/accounts/${own}/audit?q=account:${other}`)).body.events).toEqual([]);
    expect((await holder.get(`/accounts/${own}/audit?account_id=${other}`)).status).toBe(422);
    const { body: ofOther } = await client.get(`/accounts/${other}/audit`);
    expect(ofOther.events.filter(isChange)).toMatchObject([{ action: 'account_suspended' }]);
  });
});

describe('accounts', () => {
  test('are created, found by name or id, and listed with their pending work', async () => {
    const { status, body: made } = await client.post('/operator/accounts', { name: ' Corner Bakery ' });
    expect([status, made]).toMatchObject([201, { name: 'Corner Bakery', state: 'active', rate_limit: 'default' }]);
    const seed = openSeed(stack.database.url);
    await seed.written(made.account_id, { source_order_id: 'a' });
    await seed.written(made.account_id, { source_order_id: 'b' });
    await seed.dead(made.account_id, 'c');
    await seed.close();
    const expected = { account_id: made.account_id, orders_waiting: 2, dead_receipts: 1, users: 0 };
    for (const q of ['corner', 'BAKERY', String(made.account_id)])
      expect((await client.get(`/operator/accounts?q=${q}`)).body.accounts).toEqual(
        expect.arrayContaining([expect.objectContaining(expected)]),
      );
    expect((await client.get('/operator/accounts?q=%25')).body.accounts).toEqual([]);
    expect(await auditOf(made.account_id)).toEqual([[operator.email, 'account_created']]);
  });

  test.each(['', '   ', '12', 'a\nb', 'x'.repeat(201)])('are not created with the name "%s"', async (name) => {
    expect((await client.post('/operator/accounts', { name })).body.code).toBe('invalid_request');
  });

  test('are listed in pages', async () => {
    await knex('accounts').insert(Array.from({ length: 120 }, (_, n) => ({ name: `Paged ${n}` })));
    const names: string[] = [];
    for (let after = ''; ; ) {
      const { body } = await client.get(`/operator/accounts?q=paged${after}`);
      names.push(...body.accounts.map(({ name }: { name: string }) => name));
      if (body.next === null) break;
      after = `&after=${body.next}`;
    }
    expect(names).toEqual(Array.from({ length: 120 }, (_, n) => `Paged ${n}`));
  });

  test('are suspended and resumed and get signing and a rate limit, and each change is recorded once', async () => {
    const { id, key } = await stack.account();
    const path = `/operator/accounts/${id}`;
    const database = openDatabase({ url: stack.database.url, poolSize: 1, prepared: false });
    const holder = async () => (await findAuthenticatedKeys(database, [hashApiKey(key)]))[0];
    expect((await client.patch(path, { suspended: true })).body.state).toBe('suspended');
    await client.patch(path, { suspended: true });
    expect(await holder()).toMatchObject({ suspended: true });
    expect((await client.patch(path, { suspended: false })).body.state).toBe('active');
    expect((await client.patch(path, { signing: true })).body.signing_enabled).toBe(true);
    const secrets = (await holder())?.sealedSecrets;
    expect(secrets).toHaveLength(1);
    await client.patch(path, { signing: true });
    expect((await holder())?.sealedSecrets).toEqual(secrets);
    expect((await client.patch(path, { signing: false })).body.signing_enabled).toBe(false);
    expect((await client.patch(path, { rate_limit: '6000/60s' })).body.rate_limit).toBe('6000/1m');
    expect((await client.patch(path, { rate_limit: 'none' })).body.rate_limit).toBe('none');
    expect((await client.patch(path, { rate_limit: 'default' })).body.rate_limit).toBe('default');
    expect((await client.patch(path, { rate_limit: '0/1s' })).body.code).toBe('invalid_request');
    await closeDatabase(database);
    expect((await auditOf(id)).map(([, action]) => action)).toEqual([
      'account_suspended',
      'account_resumed',
      'signing_enabled',
      'signing_disabled',
      'rate_limit_set',
      'rate_limit_set',
      'rate_limit_set',
    ]);
  });

  test('are rejected as query parameters if Postgres cannot store the value', async () => {
    for (const query of ['q=a%00b', 'after=2147483648', 'after=3000000000', 'after=0'])
      expect(await client.get(`/operator/accounts?${query}`)).toMatchObject({ status: 422 });
    expect((await client.get('/operator/accounts?after=2147483647')).body.accounts).toEqual([]);
  });

  test('that do not exist are not found', async () => {
    for (const id of ['999999', '0', '-1', 'x', '2147483647', '2147483648', '99999999999'])
      expect((await client.patch(`/operator/accounts/${id}`, { suspended: true })).body.code).toBe('account_not_found');
    expect((await client.post('/operator/users', { email: 'a@example.test', account_id: 999_999 })).body.code).toBe(
      'account_not_found',
    );
  });
});

describe('users', () => {
  test('are invited by a link that is shown once and signs them in', async () => {
    const { id } = await stack.account();
    const { status, body } = await client.post('/operator/users', { email: ' Noura@Example.Test ', account_id: id });
    expect([status, body]).toEqual([
      201,
      {
        email: 'noura@example.test',
        link: expect.stringMatching(new RegExp(`^${portal.url}/invitation#[\\w-]{43}$`)),
        expires_at: expect.any(String),
        sets_new_password: false,
      },
    ]);
    const newcomer = openPortalClient(portal);
    const password = 'long enough to be good';
    const token = body.link.split('#')[1];
    expect((await newcomer.post('/invitations/accept', { token, name: 'Noura', password })).status).toBe(204);
    expect((await newcomer.get('/session')).body).toMatchObject({
      email: 'noura@example.test',
      accounts: [{ account_id: id, role: 'owner' }],
    });
    const { body: listed } = await client.get(`/operator/users?account_id=${id}`);
    expect(listed.users).toMatchObject([{ email: 'noura@example.test', last_signed_in_at: expect.any(String) }]);
    expect(await auditOf(id)).toEqual([
      [operator.email, 'user_invited'],
      ['noura@example.test', 'invitation_accepted'],
    ]);
    expect(JSON.stringify(await knex('audit_events'))).not.toContain(token);
    expect(JSON.stringify(portal.log.lines)).not.toContain(token);
  });

  test('are signed out everywhere and removed at once', async () => {
    const person = await createPerson(stack);
    const [here, there] = [await signIn(portal, person), await signIn(portal, person)];
    const { body } = await client.get(`/operator/users?account_id=${person.accountId}`);
    const path = `/operator/users/${body.users[0].user_id}`;
    expect((await client.delete(`${path}/sessions`)).status).toBe(204);
    for (const session of [here, there]) expect((await session.get('/session')).body.code).toBe('not_signed_in');
    const again = await signIn(portal, person);
    expect((await client.delete(path)).status).toBe(204);
    expect((await again.get(`/accounts/${person.accountId}/audit`)).body.code).toBe('not_signed_in');
    const { email, password } = person;
    expect((await again.post('/session', { email, password })).body.code).toBe('wrong_credentials');
    expect((await client.delete(path)).body.code).toBe('user_not_found');
    expect((await auditOf(person.accountId as number)).map(([, action]) => action)).toEqual([
      'sessions_ended',
      'user_removed',
    ]);
  });

  test('are rejected as query parameters or ids if Postgres cannot store the value', async () => {
    expect((await client.get('/operator/users?account_id=3000000000')).body.code).toBe('invalid_request');
    for (const id of ['a%00b', '%D8%A7', 'x'.repeat(101), 'unknown']) {
      expect((await client.delete(`/operator/users/${id}`)).body.code).toBe('user_not_found');
      expect((await client.delete(`/operator/users/${id}/sessions`)).body.code).toBe('user_not_found');
    }
  });

  test('become operators only after they were removed, and nobody can remove themselves', async () => {
    const person = await createPerson(stack);
    const refused = await client.post('/operator/users', { email: person.email, account_id: null });
    expect(refused.body.code).toBe('user_elsewhere');
    const account_id = (await stack.account()).id;
    const ofOperator = await client.post('/operator/users', { email: operator.email, account_id, role: 'viewer' });
    expect(ofOperator.body.code).toBe('user_elsewhere');
    const { user_id } = (await client.get('/operator/users')).body.users.find(
      ({ email }: { email: string }) => email === operator.email,
    );
    expect((await client.delete(`/operator/users/${user_id}`)).body.code).toBe('own_user');
    expect((await client.get('/session')).status).toBe(200);
  });
});

describe('the service', () => {
  test.each(QUEUE_KINDS)('shows live workers, jobs and the oldest receipt, on %s', async (kind) => {
    await withStack(kind, async (own) => {
      const [there, intake] = [await own.portal(), await own.intake()];
      const person = await createPerson(own, null);
      const asked = await signIn(there, person);
      const state = async () => (await asked.get('/operator/service')).body;
      expect(await state()).toMatchObject({ workers: [], oldest_pending_at: null });
      const account = await own.account();
      const sentAt = Date.now();
      const { body } = await intake.api.order(account, { source_order_id: 'waits' });
      const acceptedAt = Date.now();
      const waiting = await until('its wake-up waits', async () => {
        const now = await state();
        return now.lanes[0].waiting === 1 && now;
      });
      expect(waiting.lanes).toMatchObject([{ lane: 'prompt' }, { lane: 'bulk', waiting: 0 }]);
      const oldest = Date.parse(waiting.oldest_pending_at);
      expect([sentAt <= oldest, oldest <= acceptedAt]).toEqual([true, true]);

      await own.worker();
      await intake.api.final(account, body.receipt_id);
      await until('nothing waits', async () => {
        const now = await state();
        return now.workers[0]?.is_alive && now.workers[0].has_queue && now.oldest_pending_at === null;
      });
    });
  });

  test('lists the dead receipts of all accounts but test accounts, newest first, in pages', async () => {
    const { id } = await stack.account();
    const seed = openSeed(stack.database.url);
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) ids.unshift(await seed.dead(id, `dead ${n}`));
    const tests = await stack.account();
    await knex('accounts').where({ account_id: tests.id }).update({ test_of: id });
    await seed.dead(tests.id, 'dead in test mode');
    await seed.close();
    const { body } = await client.get('/operator/dead');
    expect(body.dead.slice(0, 3)).toMatchObject(
      ids.map((receipt_id) => ({ receipt_id, account_id: id, error_code: 'write_refused' })),
    );
    await knex.raw(
      `insert into dead_letters select ?, gen_random_uuid(), 'write_refused', 'many', now() - n * interval '7 us' from generate_series(1, 120) n`,
      [id],
    );
    const seen = new Set<string>();
    for (let next: Record<string, string> | null = {}; next; ) {
      const { body } = await client.get(`/operator/dead?${new URLSearchParams(next)}`);
      for (const { receipt_id } of body.dead) seen.add(receipt_id);
      next = body.next;
    }
    expect(seen.size).toBe(Number((await knex('dead_letters').whereNot({ account_id: tests.id }).count())[0]?.count));
    await knex('dead_letters').where({ source_order_id: 'many' }).delete();
    for (const day of ['2026-02-30', '0000-01-01', '2026-13-01'])
      expect((await client.get(`/operator/dead?died_at=${day}T00:00:00.000000Z&receipt_id=${ids[0]}`)).body.code).toBe(
        'invalid_request',
      );
  });

  test('has an audit log that is searched by account, actor and subject, in pages', async () => {
    const { id } = await stack.account();
    const events = Array.from({ length: 120 }, (_, n) => ({
      account_id: id,
      actor: n % 2 ? 'paged@example.test' : 'operator:root',
      action: 'order_confirmed',
      subject: `order:${n}`,
    }));
    await knex('audit_events').insert(events);
    const all = async (query: string) => {
      const subjects: string[] = [];
      for (let before = ''; ; ) {
        const { body } = await client.get(`/operator/audit?${query}${before}`);
        subjects.push(...body.events.filter(isChange).map(({ subject }: { subject: string }) => subject));
        if (body.next === null) return subjects;
        before = `&before=${body.next}`;
      }
    };
    expect(await all(`account_id=${id}`)).toEqual(events.map(({ subject }) => subject).reverse());
    expect(await all('q=paged@example.test')).toHaveLength(60);
    expect(await all('q=operator:root')).toHaveLength(60);
    expect(await all(`q=order:7&account_id=${id}`)).toEqual(['order:7']);
    expect(await all('q=order:999999')).toEqual([]);
    for (const query of ['account_id=3000000000', 'q=a%00b', 'q=order:%00'])
      expect((await client.get(`/operator/audit?${query}`)).body.code).toBe('invalid_request');
    expect((await client.get(`/accounts/${id}/audit?q=%00`)).body.code).toBe('invalid_request');
    expect((await client.get('/accounts/3000000000/audit')).body.code).toBe('account_not_found');
  });
});

describeWith('chromium')('in a browser', () => {
  const PATHS = ['/operator', '/operator/users', '/operator/service', '/operator/log'];

  test('the pages are accessible and fit on a desktop and on a dark phone in Arabic', async () => {
    await client.post('/operator/accounts', { name: 'Shown' });
    const phone = { viewport: { width: 390, height: 844 }, colorScheme: 'dark', locale: 'ar' } as const;
    for (const options of [{}, phone]) {
      const page = await openPageAs(portal, operator, '/', options);
      for (const path of PATHS) {
        await page.goto(portal.url + path);
        await page.locator('table').first().waitFor();
        await expectAccessible(page);
        const [width, inner] = await page.evaluate<number[]>(
          '[document.documentElement.scrollWidth, window.innerWidth]',
        );
        expect([path, width]).toEqual([path, inner]);
      }
      await page.goto(`${portal.url}/operator`);
      const icon = page.locator('.search-field svg');
      const isIn = await icon.evaluate((svg) => {
        const [inner, outer] = [svg, svg.nextElementSibling].map((one) => one?.getBoundingClientRect());
        return inner && outer && inner.top > outer.top && inner.bottom < outer.bottom && inner.left > outer.left;
      });
      expect(isIn).toBe(true);
    }
  });

  test('an operator creates an account, suspends it and invites its holder', async () => {
    const page = await openPageAs(portal, operator, '/operator', {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.getByRole('button', { name: 'New account' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Desert Rose');
    await dialog.getByRole('button', { name: 'New account' }).click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.getByLabel('Find by name or number').fill('desert');
    await page.getByRole('button', { name: 'Manage Desert Rose' }).click();
    await dialog.getByRole('button', { name: 'Suspend' }).click();
    await expectAccessible(page);
    await page.getByText('every order that Desert Rose sends is rejected').waitFor();
    await dialog.last().getByRole('button', { name: 'Suspend' }).click();
    await page.getByText('Suspended: orders of this account are rejected').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('suspended', { exact: true }).waitFor();

    await page.getByRole('link', { name: '0 users of Desert Rose' }).click();
    await page.getByLabel('E-mail address').fill('rose@example.test');
    await page.getByLabel('Role').selectOption('owner');
    await page.getByRole('button', { name: 'Create a link' }).click();
    await page.getByRole('heading', { name: 'Link for rose@example.test' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Copy the link' }).click();
    await page.getByText('Copied').waitFor();
    const link = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(link).toContain(`${portal.url}/invitation#`);
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(link.split('#')[1]);
  });

  test('a new account holder is invited by a command and signs in with the link, which works only once', async () => {
    const { id } = await stack.account();
    const env = { DATABASE_URL: stack.database.url, PORTAL_URL: portal.url };
    const { code, stdout: printed } = await runCommand(
      ['users', 'invite', 'salim@example.test', '--account', String(id)],
      env,
    );
    expect(code).toBe(0);
    const [link = ''] = /http:\S+/.exec(printed) ?? [];

    const page = await openPage();
    await page.goto(link);
    await page.getByText('You are invited as salim@example.test.').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Your name').fill('سالم');
    await page.getByLabel(/^A password/).fill('a desert rose in spring');
    await page.getByRole('button', { name: 'Set the password and sign in' }).click();
    await page.getByRole('heading', { name: 'Orders' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/accounts/${id}/orders`);
    expect(page.url()).not.toContain('#');
    await page.goto('about:blank');
    await page.goto(link);
    await page.getByText('This link is not valid, was used already, or has expired').waitFor();

    const salim = { email: 'salim@example.test', password: 'a desert rose in spring', name: 'سالم', accountId: id };
    const again = await openPageAs(portal, salim);
    await again.getByRole('link', { name: 'Activity' }).click();
    await again.getByRole('link', { name: 'Activity log' }).click();
    await again.getByText('Accepted the invitation').waitFor();
    await expectAccessible(again);
  });

  test('a link for an existing user shows their name and sets a new password', async () => {
    const person = await createPerson(stack);
    const token = await createInvitation(db, { ...person, role: 'account_holder' }, 'test', 3_600_000);
    const page = await openPage();
    await page.goto(`${portal.url}/invitation#${token}`);
    await page.getByLabel(/^A password/).fill('another one that is long');
    expect(await page.getByLabel('Your name').inputValue()).toBe('Test Person');
    await page.getByRole('button', { name: 'Set the password and sign in' }).click();
    await page.locator('.shell').waitFor();
  });
});
