import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { digestRows } from '@orders/cli/move/compare-rows.ts';
import { COPIED, GUARDED, OF_PEOPLE, REPLICATED } from '@orders/cli/move/moved-tables.ts';
import { runCli } from '@orders/cli/run-cli.ts';
import { openTestAccount } from '@orders/database/accounts/test-accounts.ts';
import { createEndpoint } from '@orders/database/endpoints/endpoints.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { reviewOrders } from '@orders/database/orders/review-orders.ts';
import { inTransaction } from '@orders/database/run.ts';
import { mainOf, startProgram } from '@orders/test-services/apps.ts';
import { startLink } from '@orders/test-services/link.ts';
import { until } from '@orders/test-services/until.ts';
import { startEventReceiver } from '../harness/event-receiver.ts';
import { type FaultyPostgres, startFaultyPostgres } from '../harness/faulty-postgres.ts';
import { createPerson, signIn } from '../harness/people.ts';
import { dispatch, extendUndo } from '../harness/review-list.ts';
import { NOWHERE } from '../harness/run-command.ts';
import { type RunningIntake, SOON_EXPIRED, type Stack, startStack, type TestAccount } from '../harness/stack.ts';

interface Installation {
  postgres: FaultyPostgres;
  stack: Stack;
  intake: RunningIntake;
}

let [here, there]: Installation[] = [];

async function open(installation: number, secretsKey?: Buffer): Promise<Installation> {
  const settings = ['fsync=off', 'wal_level=logical', 'wal_retrieve_retry_interval=200ms'];
  const postgres = await startFaultyPostgres(settings, { direct: true, installation, moves: true });
  const database = { ...postgres, close: () => postgres.close() };
  const stack = await startStack('postgres', { database, ...(secretsKey && { secretsKey }) });
  await stack.worker(SOON_EXPIRED);
  await stack.notifier(SOON_EXPIRED);
  return { postgres, stack, intake: await stack.intake(SOON_EXPIRED) };
}

beforeAll(async () => {
  here = await open(3);
  there = await open(4, here.stack.secretsKey);
  // Shows that its SECRETS_KEY is the same.
  await there.stack.account({ signing: true });
});
afterAll(async () => {
  await here?.stack.close();
  await there?.stack.close();
});

const sides = () => ({ here: here as Installation, there: there as Installation });

const environment = () => ({
  DATABASE_URL: sides().here.postgres.directUrl,
  TARGET_DATABASE_URL: sides().there.postgres.directUrl,
  SECRETS_KEY: sides().here.stack.env.SECRETS_KEY,
});

/**
 * Runs `orders accounts move`.
 *
 * @param options `at` ends it, as a closed terminal does, when it is about to print this. `settings` are added to the environment. `printed`
 * receives its output.
 * @returns the exit code; null if it was ended.
 */
async function move(
  account: TestAccount,
  argv: string[],
  {
    at,
    settings = {},
    printed = { stdout: '', stderr: '' },
  }: { at?: string; settings?: Record<string, string>; printed?: { stdout: string; stderr: string } } = {},
) {
  let isEnded = false;
  const code = await runCli(['accounts', 'move', String(account.id), ...argv], {
    env: { ...environment(), ...settings },
    localDirectory: NOWHERE,
    stdout: { write: (text) => (printed.stdout += text) },
    stderr: {
      write(text) {
        printed.stderr += text;
        if (isEnded || at === undefined || !text.includes(at)) return;
        isEnded = true;
        throw new Error('the terminal was closed');
      },
    },
  });
  if (at !== undefined) expect([printed.stderr, isEnded]).toEqual([expect.anything(), true]);
  return { code: isEnded ? null : code, ...printed };
}

/** An account with something of everything: orders in review, dispatched and cancelled, events, an endpoint, members, a test account. */
async function openShop() {
  const { stack, intake } = sides().here;
  const { db, knex } = stack.database;
  const account = await stack.account({ signing: true });
  await setEvents(db, account.id, true);
  const receiver = await startEventReceiver();
  await createEndpoint(db, stack.secretsKey, { accountId: account.id, url: receiver.url, types: null });
  const owner = await createPerson(stack, account.id);
  const testAccount = await inTransaction(db, (transaction) =>
    openTestAccount(transaction, account.id, stack.secretsKey),
  );
  const idOf = async (source_order_id: string) =>
    (await knex('orders').where({ account_id: account.id, source_order_id }).first('order_id')).order_id as number;
  for (const source_order_id of ['review', 'dispatched', 'cancelled', 'review'])
    await intake.api.process(
      account,
      { source_order_id, customer: { name: 'Aisha' } },
      { 'Idempotency-Key': `k${source_order_id}` },
    );
  const confirm = async (id: string) => {
    const orderId = await idOf(id);
    await reviewOrders(db, { accountId: account.id, orderIds: [orderId], to: 'confirmed', by: owner.email });
    return orderId;
  };
  await dispatch(knex, await confirm('dispatched'));
  await dispatch(knex, await confirm('cancelled'));
  expect((await intake.api.cancel(account, { source_order_id: 'cancelled' })).body).toMatchObject({
    outcome: 'requested',
  });
  expect((await intake.api.cancel(account, { source_order_id: 'not sent yet' })).body).toMatchObject({
    outcome: 'held',
  });
  return { account, receiver, owner, confirm, testAccountId: testAccount?.account.account_id as number };
}

/** Sends orders, each until it is accepted, first to the installation that was right for the one before. */
function startSender(account: TestAccount, prefix: string) {
  const accepted: string[] = [];
  let stopping = false;
  let at = sides().here.intake;
  const replies = new Set<string>();
  const sending = (async () => {
    for (let number = 0; !stopping; number += 1) {
      const source_order_id = `${prefix}-${number}`;
      for (;;) {
        const reply = await at.api
          .order(account, { source_order_id }, { 'Idempotency-Key': source_order_id })
          .catch(() => ({ status: 0, headers: {} as Record<string, string> }));
        replies.add(`${reply.status}${reply.headers['retry-after'] ? ' later' : ''}`);
        if (reply.status === 202) break;
        // Of a moved account.
        if (reply.status === 421) at = sides().there.intake;
        else await sleep(50);
      }
      accepted.push(source_order_id);
    }
  })();
  return {
    accepted,
    replies,
    untilAccepted: async (more: number) => {
      const wanted = accepted.length + more;
      await until(`${more} more are accepted`, async () => accepted.length >= wanted);
    },
    async stop() {
      stopping = true;
      await sending;
    },
  };
}

/** The events of an account there, oldest first. */
async function feedThere(account: TestAccount): Promise<{ sequence: number; id: string }[]> {
  const { knex } = sides().there.stack.database;
  const events = await knex('events')
    .where({ account_id: account.id })
    .orderBy('sequence')
    .select('sequence', 'event_id');
  return events.map(({ sequence, event_id }) => ({ sequence, id: `evt_${event_id.replaceAll('-', '')}` }));
}

async function rowsThere(accountId: number): Promise<Record<string, number>> {
  const { knex } = sides().there.stack.database;
  const rows: Record<string, number> = {};
  for (const table of ['accounts', ...REPLICATED, ...COPIED, ...OF_PEOPLE]) {
    const count = Number((await knex(table).where({ account_id: accountId }).count('* as count'))[0]?.count);
    if (count > 0) rows[table] = count;
  }
  return rows;
}

/** Expects that nothing of a move is left on either side. */
async function expectNothingLeft(accountId: number): Promise<void> {
  expect(await rowsThere(accountId)).toEqual({});
  const left = async (side: Installation, sql: string) => (await side.postgres.knex.raw(sql)).rows;
  expect(await left(sides().there, 'select subname from pg_subscription')).toEqual([]);
  expect(await left(sides().here, 'select slot_name from pg_replication_slots')).toEqual([]);
  expect(await left(sides().here, 'select pubname from pg_publication')).toEqual([]);
}

const guards = async () =>
  (
    await sides().here.postgres.knex.raw(
      "select tgrelid::regclass::text as name from pg_trigger where tgname = 'keep_moved_accounts' and tgparentid = 0",
    )
  ).rows
    .map(({ name }: { name: string }) => name)
    .toSorted();

const TO = 'https://orders-4.example.com';
/** What the command prints when it begins each step, and between. */
const BEFORE_SWITCH = ['step: copying', 'copying: ', 'step: closed', 'copying the rest', 'comparing', 'step: compared'];

async function expectMoved(shop: Awaited<ReturnType<typeof openShop>>, sent: readonly string[]): Promise<void> {
  const { account } = shop;
  const { knex } = sides().there.stack.database;
  await until('all are written', async () => (await knex('outbox')).length === 0);
  const orders: string[] = await knex('orders').where({ account_id: account.id }).pluck('source_order_id');
  expect(orders).toHaveLength(new Set(orders).size);
  expect(new Set(orders)).toEqual(new Set([...sent, 'review', 'dispatched', 'cancelled']));
  const events = await feedThere(account);
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  const received = () => new Set(shop.receiver.received.map(({ event }) => event.id));
  await until('each event is delivered', async () => (await feedThere(account)).every(({ id }) => received().has(id)));
  // Nothing is dispatched on both sides.
  const dispatchedAt = async (side: Installation) =>
    side.stack.database
      .knex('dispatch_log')
      .where({ account_id: account.id, is_cancellation: false })
      .pluck('order_id');
  const dispatched = [...(await dispatchedAt(sides().here)), ...(await dispatchedAt(sides().there))];
  expect(new Set(dispatched).size).toBe(dispatched.length);
  await expectChained(sides().here);
  await expectChained(sides().there);
}

async function expectChained({ postgres, stack }: Installation): Promise<void> {
  await until('the audit chain holds', async () => {
    let printed = '';
    const stdout = { write: (text: string) => (printed += text) };
    const code = await runCli(['audit', 'verify'], {
      env: { DATABASE_URL: postgres.directUrl },
      localDirectory: NOWHERE,
      stdout,
      stderr: stdout,
    });
    if (code !== 0) throw new Error(printed);
    return (await stack.database.knex('unchained_audit_events')).length === 0;
  });
}

test('an account moves under load: nothing is lost or doubled, and it goes on there', async () => {
  const shop = await openShop();
  const { account, owner } = shop;
  const { knex } = sides().there.stack.database;
  // Somebody who is a member of an account there too.
  const colleague = await createPerson(sides().here.stack, account.id, 'reviewer');
  const known = await createPerson(sides().there.stack);
  await knex('users').where({ email: known.email }).update({ email: colleague.email });
  // A view of an operator, who is no member.
  const operator = { id: 'an-operator', email: 'an-operator@example.com', name: 'Omar', role: 'operator' };
  await sides().here.stack.database.knex('users').insert(operator);
  const view = { account_id: account.id, user_id: operator.id, name: 'mine', query: 'severity=blocks' };
  await sides().here.stack.database.knex('review_views').insert(view);
  const undoable = await shop.confirm('review');
  await extendUndo(sides().here.stack.database.knex, [undoable]);
  const sender = startSender(account, 'load');
  await sender.untilAccepted(20);
  const printed = { stdout: '', stderr: '' };
  const moving = move(account, ['--to', TO, '--json'], { printed });
  await until('it waits', async () => printed.stderr.includes('waiting for 1 undispatched orders'));
  await dispatch(sides().here.stack.database.knex, undoable);
  const { code, stdout, stderr } = await moving;
  expect([code, stderr]).toEqual([0, expect.anything()]);
  await sender.untilAccepted(20);
  await sender.stop();
  expect(sender.replies).toContain('503 later');
  const { tables, ...result } = JSON.parse(stdout);
  expect(result).toEqual({ account_id: account.id, to: TO });
  const digests: Record<string, number> = Object.fromEntries(
    tables.map(({ table, rows }: { table: string; rows: number }) => [table, rows]),
  );
  expect(digests).toMatchObject({
    accounts: 2,
    memberships: 2,
    endpoints: 1,
    signing_secrets: 2,
    cancellation_requests: 1,
  });
  await expectMoved(shop, sender.accepted);

  expect(await knex('dispatch_log').where({ order_id: undoable })).toEqual([]);
  expect(await sides().here.stack.database.knex('dispatch_log').where({ order_id: undoable })).toHaveLength(1);
  const accounts = (side: Installation) =>
    side.stack.database
      .knex('accounts')
      .whereIn('account_id', [account.id, shop.testAccountId])
      .orderBy('account_id')
      .select('suspended_at', 'moved_to', 'moving_since');
  expect(await accounts(sides().there)).toEqual(
    Array(2).fill({ suspended_at: null, moved_to: null, moving_since: null }),
  );
  expect(await accounts(sides().here)).toEqual(
    Array(2).fill({ suspended_at: expect.any(Date), moved_to: TO, moving_since: expect.any(Date) }),
  );

  // Replays, states, cancellations and people are those of before.
  const { api } = sides().there.intake;
  const replay = await api.order(account, { source_order_id: 'load-0' }, { 'Idempotency-Key': 'load-0' });
  expect([replay.status, replay.headers['idempotent-replayed']]).toEqual([202, 'true']);
  expect((await api.final(account, replay.body.receipt_id)).body).toMatchObject({ status: 'written' });
  expect((await api.process(account, { source_order_id: 'review' })).status).toBe('duplicate');
  const held = await api.process(account, { source_order_id: 'not sent yet' });
  expect(await knex('orders').where({ order_id: held.order_id }).first('review_state')).toEqual({
    review_state: 'cancelled',
  });
  expect((await api.cancel(account, { source_order_id: 'dispatched' })).body).toMatchObject({ outcome: 'requested' });
  const portal = await sides().there.stack.portal();
  const client = await signIn(portal, owner);
  expect((await client.get('/session')).status).toBe(200);
  expect(await knex('memberships').where({ account_id: account.id }).orderBy('role').pluck('role')).toEqual([
    'owner',
    'reviewer',
  ]);
  expect(await knex('users').where({ email: colleague.email })).toHaveLength(1);
  expect(await knex('users').where({ email: operator.email })).toEqual([]);

  // Here it stays closed, whatever a process still believes.
  expect(new Set(await guards())).toEqual(new Set(GUARDED));
  const late = sides().here.stack.database.knex.raw(
    'insert into order_keys (account_id, source_order_id, held_at) values (?, ?, now())',
    [account.id, 'late'],
  );
  await expect(late).rejects.toMatchObject({ code: '55006' });
  expect(await move(account, ['--to', TO])).toMatchObject({ code: 0 });
  expect(await move(account, ['--undo'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('cannot be undone'),
  });
  await shop.receiver.close();
}, 600_000);

test('a move is undone at each step, and the account works here as before', async () => {
  const shop = await openShop();
  const { account } = shop;
  // A worker gives it a position at any time.
  const unpublished = { account_id: account.id, position: null };
  const requests = sides().here.stack.database.knex('cancellation_requests');
  await until('it is dispatched', async () => !(await requests.clone().where(unpublished).first()));
  const before = await digestRows(sides().here.stack.database.db, [account.id]);
  const left = await guards();
  for (const step of BEFORE_SWITCH) {
    await move(account, ['--to', TO], { at: step });
    expect(await move(account, ['--undo'])).toMatchObject({ code: 0 });
    await expectNothingLeft(account.id);
  }
  expect(await guards()).toEqual(left);
  expect(await sides().here.stack.database.knex('account_moves').where({ account_id: account.id })).toEqual([]);
  const sent = await until('intake knows it', async () => {
    const reply = await sides().here.intake.api.order(account, { source_order_id: 'after' });
    return reply.status === 202 && reply;
  });
  expect((await sides().here.intake.api.final(account, sent.body.receipt_id)).body.status).toBe('written');
  const after = await digestRows(sides().here.stack.database.db, [account.id]);
  const unchanged = ['accounts', 'api_keys', 'sources', 'memberships', 'cancellation_requests'];
  for (const table of unchanged)
    expect(after.find((digest) => digest.table === table)).toEqual(before.find((digest) => digest.table === table));
  await shop.receiver.close();
}, 600_000);

test('a move goes on after each interruption: of the command, and of either Postgres', async () => {
  const shop = await openShop();
  const { account } = shop;
  const sender = startSender(account, 'cut');
  await sender.untilAccepted(5);
  const restart = async ({ postgres }: Installation) => {
    await postgres.kill();
    await postgres.start();
  };
  for (const step of BEFORE_SWITCH) {
    await move(account, ['--to', TO], { at: step });
    await restart(step === 'copying: ' || step === 'comparing' ? sides().here : sides().there);
  }
  await move(account, ['--to', TO], { at: 'step: switched' });
  expect(await move(account, ['--undo'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('cannot be undone'),
  });
  await restart(sides().here);
  await restart(sides().there);
  expect(await move(account, ['--to', TO])).toMatchObject({ code: 0 });
  await sender.untilAccepted(5);
  await sender.stop();
  await expectMoved(shop, sender.accepted);
  await shop.receiver.close();
}, 600_000);

test('an account that is not drained yet is not guarded by the move of another one', async () => {
  const { knex } = sides().here.stack.database;
  const waiting = await sides().here.stack.account();
  const other = await sides().here.stack.account();
  await move(waiting, ['--to', TO], { at: 'step: closed' });
  expect(await move(other, ['--to', TO])).toMatchObject({ code: 0 });
  const lateOrder = (account: TestAccount) =>
    knex('order_keys').insert({ account_id: account.id, source_order_id: 'late', held_at: new Date() });
  await expect(lateOrder(other)).rejects.toMatchObject({ code: '55006' });
  await lateOrder(waiting);
  const corrected = 'https://orders-5.example.com';
  expect(await move(other, ['--to', corrected])).toMatchObject({ code: 0 });
  expect(await knex('accounts').where({ account_id: other.id }).first('moved_to')).toEqual({ moved_to: corrected });
  const resumed = await runCli(['accounts', 'resume', String(other.id)], {
    env: environment(),
    localDirectory: NOWHERE,
    stdout: { write: () => true },
    stderr: { write: (text) => expect(text).toContain('being moved to another installation, or was') },
  });
  expect(resumed).toBe(1);
  expect(await move(waiting, ['--undo'])).toMatchObject({ code: 0 });
}, 600_000);

test('the network between the two is cut while rows are replicated', async () => {
  const { account, receiver, ...shop } = await openShop();
  const link = await startLink(sides().here.postgres.directUrl);
  const sender = startSender(account, 'network');
  await sender.untilAccepted(5);
  await move(account, ['--to', TO], { at: 'step: closed', settings: { SOURCE_DATABASE_URL: link.url } });
  const cut = async () => {
    link.cut();
    const replicated = 'select from pg_stat_replication';
    await until('it is cut', async () => (await sides().here.postgres.knex.raw(replicated)).rows.length === 0);
  };
  await cut();
  const moving = move(account, ['--to', TO]);
  await until('it waits for what was not replicated', async () => {
    const guarded = `select from pg_trigger where tgname = 'keep_moved_accounts' and pg_get_triggerdef(oid) like ?`;
    return (await sides().here.postgres.knex.raw(guarded, [`%${account.id}%`])).rows.length > 0;
  });
  link.mend();
  expect(await moving).toMatchObject({ code: 0 });
  await sender.untilAccepted(5);
  await sender.stop();
  await expectMoved({ account, receiver, ...shop }, sender.accepted);
  await receiver.close();
  await link.close();
}, 600_000);

test('the command is killed again and again, and never are both sides open', async () => {
  const shop = await openShop();
  const { account } = shop;
  const sender = startSender(account, 'kill');
  await sender.untilAccepted(5);
  const isOpen = async ({ stack }: Installation) =>
    (await stack.database.knex('accounts').where({ account_id: account.id, moving_since: null })).length > 0;
  for (let runs = 0; ; runs += 1) {
    const child = await startProgram(mainOf('cli'), environment() as Record<string, string>, {
      args: ['accounts', 'move', String(account.id), '--to', TO],
      output: 'ignore',
    });
    const ended = child.exited;
    if (runs < 8) {
      await Promise.race([ended, sleep(700 + 450 * runs)]);
      await child.stop('SIGKILL');
    } else await ended;
    const [isThere, isHere] = [await isOpen(sides().there), await isOpen(sides().here)];
    expect(isHere && isThere).toBe(false);
    if (isThere) break;
  }
  expect(await move(account, ['--to', TO])).toMatchObject({ code: 0 });
  await sender.untilAccepted(5);
  await sender.stop();
  await expectMoved(shop, sender.accepted);
  await shop.receiver.close();
}, 600_000);
