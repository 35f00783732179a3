import { randomUUIDv7 } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { searchReceipts } from '@orders/portal/receipts/search-receipts.ts';
import { hold, lockTables, whoWait } from '../harness/barriers.ts';
import { expectAccessible, openPage, openPageAs, visitAs } from '../harness/browser.ts';
import { poisonOrders, stopPoisoning } from '../harness/damage-body.ts';
import { newReceipt } from '../harness/new-receipt.ts';
import { createPerson, type PortalClient, signIn, type TestPerson } from '../harness/people.ts';
import { describeWith } from '../harness/programs.ts';
import { useStack } from '../harness/use-stack.ts';

let person: TestPerson;
let client: PortalClient;
let base: string;

const { stack, knex, api, portal, account } = useStack({
  intake: true,
  worker: { RETRY_ATTEMPTS: '2' },
  portal: true,
  account: true,
});

beforeAll(async () => {
  person = await createPerson(stack, account.id);
  client = await signIn(portal, person);
  base = `/accounts/${account.id}`;
});

/** Sends an order and waits for its final state. */
async function send(order: object, headers: Record<string, string> = {}, of = account): Promise<string> {
  const body = await api.process(of, order, headers);
  return body.receipt_id;
}

/** Makes these orders dead with a fault that is then removed. */
async function kill(...names: string[]): Promise<string[]> {
  await poisonOrders(knex);
  const receiptIds = await Promise.all(
    names.map((name) => send({ source_order_id: name, order_number: `poison-${name}` })),
  );
  await stopPoisoning(knex);
  return receiptIds;
}

const idsOf = (reply: { body: { receipts: { receipt_id: string }[] } }) =>
  reply.body.receipts.map(({ receipt_id }) => receipt_id);

describe('finding receipts', () => {
  test('by receipt id, idempotency key and source_order_id returns the duplicates of an order too', async () => {
    const first = await send({ source_order_id: 'find me' }, { 'Idempotency-Key': 'key/of-it' });
    const again = await send({ source_order_id: 'find me' });
    await send({ source_order_id: 'find me not' });
    for (const text of [first, first.toUpperCase(), 'key/of-it'])
      expect(idsOf(await client.get(`${base}/receipts/search?q=${encodeURIComponent(text)}`))).toEqual([first]);
    const found = await client.get(`${base}/receipts/search?q=find%20me`);
    expect(idsOf(found)).toEqual([again, first]);
    expect(found.body).toMatchObject({ newest_since: null, followed_until: null });
    expect(idsOf(await client.get(`${base}/receipts/search?q=find`))).toEqual([]);
  });

  test('by state returns the newest first, in pages', async () => {
    const own = await stack.account();
    const ownClient = await signIn(portal, await createPerson(stack, own.id));
    const sent: string[] = [];
    for (let index = 0; index < 5; index += 1) sent.push(await send({ source_order_id: `page-${index}` }, {}, own));
    const newest = sent.toReversed();
    const seen: string[] = [];
    for (let before = ''; ; ) {
      const page = await ownClient.get(`/accounts/${own.id}/receipts?limit=2${before}`);
      seen.push(...idsOf(page));
      if (page.body.next === null) break;
      before = `&before=${page.body.next}`;
    }
    expect(seen).toEqual(newest);
    const repeat = await send({ source_order_id: 'page-0' }, {}, own);
    expect(idsOf(await ownClient.get(`/accounts/${own.id}/receipts?state=duplicate`))).toEqual([repeat]);
    expect(idsOf(await ownClient.get(`/accounts/${own.id}/receipts?state=dead`))).toEqual([]);
  });

  test('by search reports how far it searched if there are too many', async () => {
    const database = stack.openDatabase();
    const ofNobody = (receiptId: string) => newReceipt({ receiptId, accountId: 9_999_999, sourceOrderId: receiptId });
    const early = await send({ source_order_id: 'long ago' });
    const repeat = await send({ source_order_id: 'long ago' });
    for (let stored = 0; stored < 51_000; stored += 3000) {
      const ids = Array.from({ length: 3000 }, () => randomUUIDv7());
      await recordReceipts(database, randomUUIDv7(), 3_600_000, ids.map(ofNobody));
    }
    const latest = await send({ source_order_id: 'long ago' });
    const found = await searchReceipts(database, account.id, 'long ago');
    expect(found.receipts.map(({ receipt_id }) => receipt_id)).toEqual([latest, repeat, early]);
    expect(found.newest_since?.getTime()).toBeLessThanOrEqual(Date.now());
    expect(found.followed_until).toBeInstanceOf(Date);
    const page = await client.get(`${base}/receipts?state=failed`);
    expect(page.body).toEqual({ receipts: [], next: expect.any(String) });
    const rest = await client.get(`${base}/receipts?before=${page.body.next}`);
    expect(idsOf(rest)).toContain(early);
    await knex.raw('delete from outbox where cardinality(receipt_ids) = 3000');
    await knex.raw('delete from receipts where account_id = 9999999');
  });
});

describe('one receipt', () => {
  test('shows its timeline, its warnings and its payload exactly as received', async () => {
    const raw = '{ "source_order_id":"raw-1",\n "customer": {"phone": "call me"}, "note":"\\u0041" }';
    const body = await api.process(account, raw);
    const shown = (await client.get(`${base}/receipts/${body.receipt_id}`)).body;
    expect(shown).toMatchObject({
      status: 'written',
      payload: raw,
      payload_base64: null,
      channel: 'rest',
      attempts: 1,
    });
    expect(shown.events.map(({ kind }: { kind: string }) => kind)).toEqual(['received', 'normalized', 'written']);
    expect(shown.warnings.map(({ pointer }: { pointer: string }) => pointer)).toEqual(['/customer/phone', '/note']);
  });

  test('that died and was redriven shows all attempts and who redrove it', async () => {
    const [dead] = (await kill('told')) as [string];
    const { body } = await client.get(`${base}/receipts/${dead}`);
    expect(body).toMatchObject({ status: 'dead', error: { code: 'write_refused' } });
    const died = ['received', 'normalized', 'attempt_failed', 'normalized', 'attempt_failed', 'dead'];
    expect(body.events.map(({ kind }: { kind: string }) => kind)).toEqual(died);
    expect(body.events[2]).toMatchObject({
      attempt: 1,
      code: 'write_refused',
      sqlstate: '23514',
      constraint: 'no_poison',
    });
    expect((await client.post(`${base}/receipts/${dead}/redrive`)).body.status).toBe('received');
    await api.final(account, dead);
    const { events } = (await client.get(`${base}/receipts/${dead}`)).body;
    expect(events.slice(6)).toMatchObject([
      { kind: 'redriven', actor: person.email },
      { kind: 'normalized' },
      { kind: 'written' },
    ]);
    expect((await client.post(`${base}/receipts/${dead}/redrive`)).body.code).toBe('conflicting_state');
  });
});

describe('redriving dead receipts', () => {
  const stored = async () => {
    const { rows } = await knex.raw(
      `select (select jsonb_agg(to_jsonb(r) order by receipt_id) from receipts r where account_id = :id) as receipts,
              (select jsonb_agg(to_jsonb(o) order by order_id) from orders o where account_id = :id) as orders,
              (select jsonb_agg(to_jsonb(d) order by receipt_id) from dead_letters d where account_id = :id) as dead`,
      { id: account.id },
    );
    return rows[0];
  };

  test('has a preview that counts each outcome and changes nothing', async () => {
    await kill('fine-1', 'fine-2', 'twice', 'there', 'still-bad');
    await poisonOrders(knex);
    await send({ source_order_id: 'twice', order_number: 'poison again' });
    await stopPoisoning(knex);
    await send({ source_order_id: 'there' });
    await knex.raw(`
      create function refuse_one() returns trigger language plpgsql as $$ begin
        if new.source_order_id = 'still-bad' then raise exception 'no' using errcode = '23514'; end if; return new; end $$;
      create trigger refuse_one before insert on orders for each row execute function refuse_one()`);
    const before = await stored();
    const { body } = await client.post(`${base}/dead-letters/redrive-preview`, {});
    expect(body).toMatchObject({ matching: 6, tried: 6, written: 3, duplicate: 2, undecided: 0 });
    expect(body.failing).toMatchObject([{ code: 'write_refused', sqlstate: '23514', count: 1 }]);
    expect(await stored()).toEqual(before);
    await knex.raw('drop trigger refuse_one on orders');
  });

  test('has a preview that does not wait for locks and counts locked receipts as undecided', async () => {
    const [held] = (await kill('held')) as [string];
    const holder = await hold(knex, `select from receipts where receipt_id = '${held}' for update`);
    const { body } = await client.post(`${base}/receipts/${held}/redrive-preview`);
    expect(body).toMatchObject({ matching: 1, tried: 1, written: 0, undecided: 1 });
    await holder.release();
    expect((await client.post(`${base}/receipts/${held}/redrive-preview`)).body.written).toBe(1);
  });

  test('has one preview of all at a time', async () => {
    const preview = () => client.post(`${base}/dead-letters/redrive-preview`, {});
    const lock = await lockTables(knex, 'dead_letters');
    const first = preview();
    await whoWait(knex, 1, 'relation');
    expect((await preview()).status).toBe(429);
    await lock.release();
    expect((await first).status).toBe(200);
    expect((await preview()).status).toBe(200);
  });

  test('redrives only matching receipts and records each', async () => {
    const [one, two] = (await kill('match-1', 'match-2')) as [string, string];
    const filter = { source_prefix: 'match-', error_code: 'write_refused', died_from: new Date(0) };
    expect((await client.post(`${base}/dead-letters/redrive-preview`, filter)).body.matching).toBe(2);
    const none = { ...filter, died_to: new Date(0) };
    expect((await client.post(`${base}/dead-letters/redrive`, none)).body.redriven).toBe(0);
    expect((await client.post(`${base}/dead-letters/redrive`, filter)).body).toEqual({ redriven: 2, left: 0 });
    for (const receiptId of [one, two]) {
      expect((await api.final(account, receiptId)).body.status).toBe('written');
      const events = await knex('audit_events').where({ subject: `receipt:${receiptId}` });
      expect(events).toMatchObject([{ account_id: account.id, actor: person.email, action: 'receipt_redriven' }]);
    }
    const left = idsOf(await client.get(`${base}/receipts?state=dead&source_prefix=fine`));
    expect(left).toHaveLength(2);
    const { rows } = await knex.raw(
      "select count(*)::int as dead, (select count(*)::int from dead_letters) as kept from receipts where state = 'dead'",
    );
    expect(rows[0].kept).toBe(rows[0].dead);
  });
});

test('receipts of another account get the same reply as unknown ones, on every route', async () => {
  const [dead] = (await kill('secret')) as [string];
  const other = await stack.account();
  const otherHolder = await signIn(portal, await createPerson(stack, other.id));
  const theirs = `/accounts/${other.id}`;
  for (const path of [`/receipts/${dead}`, `/receipts/${randomUUIDv7()}`, '/receipts/none'])
    expect((await otherHolder.get(theirs + path)).body.code).toBe('receipt_not_found');
  for (const action of ['redrive', 'redrive-preview'])
    expect((await otherHolder.post(`${theirs}/receipts/${dead}/${action}`)).body.code).toBe('receipt_not_found');
  for (const path of ['/receipts', '/receipts/search?q=x', '/dead-letters/counts', `/receipts/${dead}`])
    expect((await otherHolder.get(base + path)).body.code).toBe('account_not_found');
  for (const path of ['/dead-letters/redrive', '/dead-letters/redrive-preview', `/receipts/${dead}/redrive`])
    expect((await otherHolder.post(base + path, {})).body.code).toBe('account_not_found');
  for (const text of [dead, 'secret'])
    expect(idsOf(await otherHolder.get(`${theirs}/receipts/search?q=${text}`))).toEqual([]);
  for (const query of ['', '?state=dead'])
    expect(idsOf(await otherHolder.get(`${theirs}/receipts${query}`))).toEqual([]);
  expect((await otherHolder.get(`${theirs}/dead-letters/counts`)).body).toEqual({ codes: [] });
  expect((await otherHolder.post(`${theirs}/dead-letters/redrive`, {})).body).toEqual({ redriven: 0, left: 0 });
  expect((await otherHolder.post(`${theirs}/dead-letters/redrive-preview`, {})).body.matching).toBe(0);
  expect((await client.get(`${base}/receipts/${dead}`)).body.status).toBe('dead');
});

test.each(['state=lost', 'before=x', 'limit=0', 'limit=101', 'died_from=yesterday', 'error_code=A!'])(
  'a list by %s is rejected',
  async (query) => {
    expect((await client.get(`${base}/receipts?${query}`)).body.code).toBe('invalid_request');
  },
);

describeWith('chromium')('in a browser', () => {
  test('a receipt is found by each of its ids, and its payload is shown unchanged', async () => {
    const raw = '{"source_order_id":"story-1",  "customer":{"phone":"?"}}';
    const sent = await api.order(account, raw, { 'Idempotency-Key': 'story-key' });
    const receiptId: string = sent.body.receipt_id;
    await api.final(account, receiptId);
    const page = await openPageAs(portal, person);
    await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
    await page.getByRole('heading', { name: 'Receipts' }).waitFor();
    await expectAccessible(page);
    for (const text of [receiptId, 'story-key', 'story-1']) {
      await page.getByRole('searchbox').fill(text);
      await page.getByRole('searchbox').press('Enter');
      await page.getByText('1 receipt found').waitFor();
      await page.getByRole('link', { name: receiptId }).waitFor();
      await page.getByRole('searchbox').fill('');
      await page.getByText('1 receipt found').waitFor({ state: 'detached' });
    }
    await page.getByRole('searchbox').fill('story-1');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByText('1 receipt found').waitFor();
    await page.getByRole('link', { name: receiptId }).click();
    await page.getByText('Exactly as it was received.').waitFor();
    expect(await page.locator('pre').textContent()).toBe(raw);
    await expectAccessible(page);
  });

  test('a dead receipt shows its cause, the preview of its redrive, and its outcome', async () => {
    await kill('the dead one');
    const page = await openPageAs(portal, person, `/accounts/${account.id}/receipts`);
    await page.getByRole('navigation', { name: 'State' }).getByRole('link', { name: 'failed for good' }).click();
    await page.getByLabel('source_order_id begins with').fill('the dead');
    await page.getByRole('link', { name: 'the dead one' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'the dead one' }).click();
    await page.getByText('write_refused · 23514 · no_poison').first().waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Process again…' }).click();
    await page.getByText('1 would become an order').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Process 1 receipt again' }).click();
    await page.getByText('1 receipt is being processed again.').waitFor();
    await page.getByText('Became an order', { exact: true }).waitFor();
    await page.locator('main').getByText(person.email).waitFor();
  });

  test('an order under a used key shows why it is not on the list, links to the first one, and becomes an order', async () => {
    const reused = { 'Idempotency-Key': 'story-reused' };
    const original = await send({ source_order_id: 'used first' }, reused);
    const { body } = await api.order(account, { source_order_id: 'came later' }, reused);
    expect(body).toMatchObject({ receipt_id: original, payload_mismatch: true });
    const page = await openPageAs(portal, person, `/accounts/${account.id}/receipts?state=dead`);
    await page.getByLabel('Cause').selectOption('idempotency_key_reused');
    await page.getByRole('link', { name: 'came later' }).click();
    await page.getByText('It was kept and not processed, so it is not on the list.').waitFor();
    await page.getByText('Failed for good: not processed').waitFor();
    await page.getByRole('link', { name: original }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Accept as an order of its own…' }).click();
    await page.getByText('1 would become an order').waitFor();
    await page.getByRole('button', { name: 'Process 1 receipt again' }).click();
    await page.getByText('Became an order', { exact: true }).waitFor();
    await page.getByRole('link', { name: original }).click();
    await page.getByRole('heading', { name: 'used first' }).waitFor();
  });

  test('all matching receipts are redriven after a preview', async () => {
    await kill('many-1', 'many-2');
    // These stay dead because they have no receipts. They stand for receipts above the limit of one request.
    await knex.raw(
      `insert into dead_letters
       select ?, gen_random_uuid(), 'write_refused', 'many-lost', now() - interval '1h' from generate_series(1, 7)`,
      [account.id],
    );
    const page = await openPage();
    const query = '?state=dead&source_prefix=many-';
    await visitAs(page, portal, person, `/accounts/${account.id}/receipts${query}`);
    await page.getByRole('link', { name: 'many-1' }).waitFor();
    await page.getByRole('button', { name: 'Process all of these again…' }).click();
    await page.getByText('2 would become orders').waitFor();
    await page.getByRole('button', { name: 'Process 9 receipts again' }).click();
    await page.getByText('2 receipts are being processed again.').waitFor();
    await page.getByText('Still left: 7.').waitFor();
    await knex('dead_letters').where({ source_order_id: 'many-lost' }).delete();
    await page.reload();
    await page.getByText('Nothing failed for good').waitFor();
  });
});
