import { beforeAll, describe, expect, test } from '@jest/globals';
import { setHoldChangedDeliveries } from '@orders/database/accounts/accounts.ts';
import { until } from '@orders/test-services/until.ts';
import { closeBarrier, installBarriers, whoWait } from '../harness/barriers.ts';
import { createPerson, type PortalClient, signIn } from '../harness/people.ts';
import { readMetrics } from '../harness/read-metrics.ts';
import { runOrders } from '../harness/run-command.ts';
import type { RunningIntake, TestAccount } from '../harness/stack.ts';
import { readBodies } from '../harness/stored.ts';
import { useStack } from '../harness/use-stack.ts';

const REUSED = 'idempotency_key_reused';
const FIRST = { source_order_id: 'A', customer: { name: 'Aisha Khan', phone: '050 123 4567' }, total: 49 };
const CHANGED = { ...FIRST, customer: { ...FIRST.customer, phone: '050 765 4321' } };
const OTHER = { ...FIRST, source_order_id: 'B' };
const key = (text: string) => ({ 'Idempotency-Key': text });
let intakes: [RunningIntake, RunningIntake];
let account: TestAccount;
let client: PortalClient;

const { stack, knex, db } = useStack();

beforeAll(async () => {
  intakes = [await stack.intake(), await stack.intake()];
  await installBarriers(knex);
});

async function begin(): Promise<void> {
  account = await stack.account();
}
async function openPortal(): Promise<string> {
  client = await signIn(await stack.portal(), await createPerson(stack, account.id));
  return `/accounts/${account.id}`;
}

interface Kept {
  receipt_id: string;
  kept_as: string;
}
const send = (order: unknown, text: string, intake = intakes[0]) => intake.api.order(account, order, key(text));
/** Sends an order and expects that it is kept. */
async function sendKept(order: unknown, text: string, intake = intakes[0]): Promise<Kept> {
  const { status, body, headers } = await send(order, text, intake);
  const { receipt_id, kept_as } = body;
  expect([status, body]).toEqual([202, { receipt_id, duplicate: true, payload_mismatch: true, kept_as }]);
  expect(headers['idempotent-replayed']).toBe('true');
  expect(kept_as).not.toBe(receipt_id);
  return body;
}
async function acceptFirst(text: string, order: unknown = FIRST): Promise<string> {
  const { body } = await send(order, text);
  expect(body).toEqual({ receipt_id: body.receipt_id });
  return body.receipt_id;
}
const statusOf = async (receiptId: string) => (await intakes[0].api.status(account, receiptId)).body;
const finalOf = async (receiptId: string) => (await intakes[0].api.final(account, receiptId)).body;
const rows = (table: string) => knex(table).where({ account_id: account.id });
const bodyOf = async (receiptId: string) => (await readBodies(knex, [receiptId])).get(receiptId)?.toString();
const outboxOf = async (receiptId: string) =>
  (await knex.raw('select batch_id from outbox where ? = any(receipt_ids)', [receiptId])).rows;
/** The number of bytes of the account's stored bodies without spaces (a body that was not kept is replaced by spaces). */
async function storedBytes(): Promise<number> {
  const { rows: sums } = await knex.raw(
    'select sum(length(replace(encode(bodies, ?), ?, ?)))::int as bytes from receipt_payloads where account_id = ?',
    ['escape', ' ', '', account.id],
  );
  return sums[0].bytes;
}
const bytesOf = (...orders: object[]) => orders.map((one) => JSON.stringify(one).replaceAll(' ', '')).join('').length;
async function withWorker(work: () => Promise<void>): Promise<void> {
  const worker = await stack.worker();
  await work();
  await worker.close();
}
/** Two receipts of one order are processed in any order, so the original is written before another one is sent. */
const write = (receiptId: string) =>
  withWorker(async () => {
    expect((await finalOf(receiptId)).status).toBe('written');
  });

describe('the same order with other content under a used key', () => {
  test('is stored unchanged and ends as a changed delivery with its changes', async () => {
    await begin();
    const original = await acceptFirst('same');
    await write(original);
    const { receipt_id, kept_as } = await sendKept(CHANGED, 'same');
    expect(receipt_id).toBe(original);
    expect(await bodyOf(kept_as)).toBe(JSON.stringify(CHANGED));
    expect(await outboxOf(kept_as)).toHaveLength(1);
    await withWorker(async () => {
      expect(await finalOf(kept_as)).toMatchObject({
        status: 'duplicate',
        error: null,
        duplicate_of: { receipt_id: original },
        changes: [{ pointer: '/customer/phone', from: '+971501234567', to: '+971507654321' }],
      });
    });
    expect(await rows('orders')).toHaveLength(1);
  });

  test('holds the order if the account holds changed deliveries', async () => {
    await begin();
    await setHoldChangedDeliveries(db, account.id, true);
    await write(await acceptFirst('held'));
    const { kept_as } = await sendKept(CHANGED, 'held');
    await withWorker(async () => {
      await finalOf(kept_as);
    });
    const base = await openPortal();
    const [order] = await rows('orders');
    const detail = await client.get(`${base}/orders/${order.order_id}`);
    expect(detail.body.resends).toMatchObject([{ receipt_id: kept_as, decision: null }]);
    const review = await client.post(`${base}/orders/review`, { order_ids: [order.order_id], to: 'confirmed' });
    expect(review.body).toMatchObject({ changed: [], unchanged: [{ order_id: order.order_id, held: true }] });
  });

  test('wakes the worker without the sweeper', async () => {
    await begin();
    const unswept = { SWEEP_INTERVAL: '1h', SWEEP_AFTER: '1h' };
    const worker = await stack.worker(unswept);
    const intake = await stack.intake(unswept);
    await intake.api.process(account, FIRST, key('woken'));
    const { kept_as } = await sendKept(CHANGED, 'woken', intake);
    expect((await intake.api.final(account, kept_as)).body.status).toBe('duplicate');
    await intake.close();
    await worker.close();
  });
});

describe('another order under a used key', () => {
  test('is kept as dead without an attempt, an outbox row or an order', async () => {
    await begin();
    const original = await acceptFirst('other');
    const { receipt_id, kept_as } = await sendKept(OTHER, 'other');
    expect(receipt_id).toBe(original);
    const kept = await statusOf(kept_as);
    expect(kept).toMatchObject({
      status: 'dead',
      source_order_id: 'B',
      attempts: 0,
      order_id: null,
      error: { code: REUSED },
    });
    expect(await bodyOf(kept_as)).toBe(JSON.stringify(OTHER));
    expect(await outboxOf(kept_as)).toEqual([]);
    await write(original);
    expect((await rows('orders')).map((order) => order.source_order_id)).toEqual(['A']);
    const { body } = await intakes[0].api.reconcile(account, ['A', 'B', 'C']);
    expect(body.results.map(({ status }: { status: string }) => status)).toEqual(['written', 'dead', 'never_seen']);
  });

  test('becomes a separate order when it is redriven in the portal, which shows the original', async () => {
    await begin();
    const original = await acceptFirst('redriven');
    const { kept_as } = await sendKept(OTHER, 'redriven');
    const base = await openPortal();
    const dead = await client.get(`${base}/receipts?state=dead&error_code=${REUSED}`);
    expect(dead.body.receipts).toMatchObject([{ receipt_id: kept_as, attempts: 0, error: { code: REUSED } }]);
    expect((await client.get(`${base}/dead-letters/counts`)).body).toEqual({
      codes: [{ error_code: REUSED, count: 1, oldest_at: expect.any(String), newest_at: expect.any(String) }],
    });
    const detail = await client.get(`${base}/receipts/${kept_as}`);
    const keptEvent = { kind: 'kept', at: expect.any(String), kept_from: original };
    expect(detail.body.events).toMatchObject([{ kind: 'received' }, keptEvent, { kind: 'dead' }]);
    const preview = await client.post(`${base}/receipts/${kept_as}/redrive-preview`);
    expect(preview.body).toMatchObject({ matching: 1, tried: 1, written: 1, duplicate: 0, failing: [] });
    expect((await client.post(`${base}/receipts/${kept_as}/redrive`)).status).toBe(200);
    await withWorker(async () => {
      expect(await finalOf(kept_as)).toMatchObject({ status: 'written', attempts: 1, error: null });
      expect((await finalOf(original)).status).toBe('written');
    });
    expect(await rows('dead_letters')).toEqual([]);
    const after = await client.get(`${base}/receipts/${kept_as}`);
    expect(after.body.events.map(({ kind }: { kind: string }) => kind)).toEqual([
      'received',
      'kept',
      'dead',
      'redriven',
      'normalized',
      'written',
    ]);
    expect((await rows('orders')).map((order) => order.source_order_id).sort()).toEqual(['A', 'B']);
  });

  test('is kept and can be redriven for each of 50 orders sent at once to two intakes under one key', async () => {
    await begin();
    const orders = Array.from({ length: 50 }, (_, index) => ({ source_order_id: `constant ${index}`, total: index }));
    const replies = await Promise.all(orders.map((order, index) => send(order, 'constant', intakes[index % 2])));
    const kept = replies.flatMap(({ body }) => body.kept_as ?? []);
    expect(kept).toHaveLength(49);
    expect(new Set(replies.map(({ body }) => body.receipt_id)).size).toBe(1);
    expect(await rows('dead_letters')).toHaveLength(49);
    const { code, stdout } = await runOrders(
      stack,
      'receipts',
      'redrive',
      '--all-dead',
      '--account',
      String(account.id),
    );
    expect([code, stdout]).toEqual([0, expect.stringContaining('49')]);
    await withWorker(async () => {
      for (const receiptId of [replies[0]?.body.receipt_id, ...kept])
        expect((await finalOf(receiptId)).status).toBe('written');
    });
    const written = (await rows('orders')).map((order) => order.source_order_id);
    expect(new Set(written)).toEqual(new Set(orders.map((order) => order.source_order_id)));
    expect(written).toHaveLength(50);
  });

  test('is counted by the state it is kept in', async () => {
    await begin();
    const read = async (name: string, label: string, value: string) =>
      (await readMetrics(intakes[0].adminUrl)).get(name)?.samples.find(({ labels }) => labels[label] === value)
        ?.value ?? 0;
    const readAll = async () => [
      await read('intake_payload_mismatches_total', 'kept_as', 'dead'),
      await read('intake_payload_mismatches_total', 'kept_as', 'resend'),
      await read('intake_receipts_total', 'outcome', 'accepted'),
      await read('intake_receipts_total', 'outcome', 'kept'),
      await read('intake_receipts_total', 'outcome', 'replayed'),
    ];
    const before = await readAll();
    await acceptFirst('counted');
    await sendKept(OTHER, 'counted');
    await sendKept(CHANGED, 'counted');
    await sendKept(OTHER, 'counted');
    for (const order of [FIRST, CHANGED, OTHER]) await intakes[0].api.batch(account, [order], key('counted'));
    const after = await readAll();
    expect(after.map((value, index) => value - (before[index] ?? 0))).toEqual([3, 2, 2, 4, 5]);
  });
});

describe('the same content again under a used key', () => {
  test('returns the kept receipt in any spelling, and new content gets its own receipt', async () => {
    await begin();
    const original = await acceptFirst('again');
    for (const order of [CHANGED, OTHER]) {
      const { kept_as } = await sendKept(order, 'again');
      const members = Object.entries(order).toReversed();
      for (const [index, spelling] of [order, Object.fromEntries(members), { ...order, total: '49.00' }].entries())
        expect(await sendKept(spelling, 'again', intakes[index % 2])).toMatchObject({ receipt_id: original, kept_as });
      const third = await sendKept({ ...order, total: 50 }, 'again');
      expect(third.kept_as).not.toBe(kept_as);
    }
    expect(await rows('receipts')).toHaveLength(5);
    expect((await send(FIRST, 'again')).body).toEqual({ receipt_id: original, duplicate: true });
  });

  test.each([
    [49, '49.00'],
    ['49', 49.0],
  ])('with a total of %p and then %p is not a mismatch', async (total, again) => {
    await begin();
    const original = await acceptFirst('number', { ...FIRST, total, items: [{ quantity: 2 }] });
    const { body } = await send({ ...FIRST, total: again, items: [{ quantity: '2' }] }, 'number');
    expect(body).toEqual({ receipt_id: original, duplicate: true });
  });

  test.each([
    ['the same order', CHANGED],
    ['another order', OTHER],
  ])('gets one receipt when it arrives twenty times at once at two intakes, %s', async (_, order) => {
    await begin();
    await acceptFirst('at-once');
    const replies = await Promise.all(
      Array.from({ length: 20 }, (__, index) => sendKept(order, 'at-once', intakes[index % 2])),
    );
    expect(new Set(replies.map(({ kept_as }) => kept_as)).size).toBe(1);
    expect(await rows('receipts')).toHaveLength(2);
    // The delivery that lost the race leaves no body behind.
    expect(await storedBytes()).toBe(bytesOf(FIRST, order));
    expect(await rows('receipt_payloads')).toHaveLength(2);
  });

  test('waits at the second intake for the first and gets its receipt', async () => {
    await begin();
    await acceptFirst('moment');
    const gate = await closeBarrier(knex, 'keys taken');
    const first = sendKept(OTHER, 'moment', intakes[0]);
    await whoWait(knex, 1, 'advisory');
    const second = sendKept(OTHER, 'moment', intakes[1]);
    await whoWait(knex, 1, 'transactionid');
    await gate.release();
    expect(await first).toEqual(await second);
    expect(await rows('dead_letters')).toHaveLength(1);
  });
});

describe('a batch with used keys', () => {
  const lines = (orders: object[]) => Buffer.from(orders.map((order) => JSON.stringify(order)).join('\n'));

  test('counts each order as accepted, mismatched or rejected', async () => {
    await begin();
    const orders = [FIRST, { source_order_id: 'C' }, { source_order_id: 'D' }];
    const first = await intakes[0].api.batch(account, lines(orders), key('batch'));
    expect(first.body).toMatchObject({ accepted: 3, mismatched: 0, refused: 0 });
    const ids = first.body.results.map((result: Kept) => result.receipt_id);
    await write(ids[0]);
    const again = [CHANGED, { source_order_id: 'C' }, { source_order_id: 'E' }, { source_order_id: 'F' }, {}];
    const replies = [
      await intakes[1].api.batch(account, lines(again), key('batch')),
      await intakes[0].api.batch(account, again, key('batch')),
    ];
    const [{ results }] = replies.map(({ body }) => body) as [{ results: Kept[] }];
    for (const [index, { body }] of replies.entries()) {
      expect(body).toMatchObject({ accepted: 2, mismatched: 2, refused: 1 });
      expect(body.results).toEqual([
        { receipt_id: ids[0], duplicate: true, payload_mismatch: true, kept_as: results[0]?.kept_as },
        { receipt_id: ids[1], duplicate: true },
        { receipt_id: ids[2], duplicate: true, payload_mismatch: true, kept_as: results[2]?.kept_as },
        { receipt_id: results[3]?.receipt_id, ...(index > 0 && { duplicate: true }) },
        { error: expect.objectContaining({ code: 'validation_failed' }) },
      ]);
    }
    expect((await statusOf(results[2]?.kept_as as string)).error.code).toBe(REUSED);
    await withWorker(async () => {
      expect((await finalOf(results[0]?.kept_as as string)).status).toBe('duplicate');
    });
    const { log } = intakes[1];
    const kept = { receipt_id: ids[0], kept_receipt_id: results[0]?.kept_as, kept_as: 'resend' };
    expect(log.lines).toContainEqual(
      expect.objectContaining({ level: 'warn', orders: 2, kept: expect.arrayContaining([kept]) }),
    );
  });

  test('stores only new bodies, not those that are already kept', async () => {
    await begin();
    const named = (...names: string[]) => names.map((name) => ({ source_order_id: name }));
    for (const orders of [named('A', 'B'), named('C', 'B'), named('C', 'D')])
      await intakes[0].api.batch(account, orders, key('beside'));
    expect(await rows('receipts')).toHaveLength(4);
    expect(await storedBytes()).toBe(bytesOf(...named('A', 'B', 'C', 'D')));
  });

  test('keeps every order if all 700 differ', async () => {
    await begin();
    const orders = (name: string) => Array.from({ length: 700 }, (_, n) => ({ source_order_id: `${name} ${n}` }));
    await intakes[0].api.batch(account, lines(orders('first')), key('all'));
    const { body } = await intakes[0].api.batch(account, lines(orders('second')), key('all'));
    expect(body).toMatchObject({ accepted: 0, mismatched: 700, refused: 0 });
    expect(new Set(body.results.map((result: Kept) => result.kept_as)).size).toBe(700);
    expect(await rows('dead_letters')).toHaveLength(700);
  });
});

describe('a missing original', () => {
  async function eraseCustomer(): Promise<void> {
    const { code, stderr } = await runOrders(stack, 'erase', String(account.id), '--phone', '0501234567', '--json');
    expect([code, stderr]).toEqual([0, '']);
  }

  test('whose customer was erased: another order is kept, and the same order is not stored again', async () => {
    await begin();
    const original = await acceptFirst('erased');
    await withWorker(async () => {
      await finalOf(original);
    });
    await eraseCustomer();
    const { kept_as } = await sendKept({ source_order_id: 'B', total: 1 }, 'erased');
    expect((await statusOf(kept_as)).error.code).toBe(REUSED);
    for (const order of [FIRST, CHANGED]) {
      expect((await send(order, 'erased')).body).toEqual({ receipt_id: original, duplicate: true });
    }
    expect(await rows('receipts')).toHaveLength(2);
  });

  test('whose week was dropped frees its key', async () => {
    await begin();
    const original = await acceptFirst('dropped');
    await withWorker(async () => {
      await finalOf(original);
    });
    await rows('receipts').delete();
    const next = await acceptFirst('dropped', OTHER);
    expect((await send(OTHER, 'dropped')).body).toEqual({ receipt_id: next, duplicate: true });
  });

  test('an erasure finds kept deliveries, dead or not', async () => {
    await begin();
    await write(await acceptFirst('found', { source_order_id: 'A' }));
    const [resend, dead] = [await sendKept(FIRST, 'found'), await sendKept(OTHER, 'found')];
    await eraseCustomer();
    for (const { kept_as } of [resend, dead]) expect(await bodyOf(kept_as)).not.toMatch(/Aisha|4567/);
    await runOrders(stack, 'receipts', 'redrive', dead.kept_as);
    await withWorker(async () => {
      expect((await finalOf(resend.kept_as)).status).toBe('duplicate');
      expect((await finalOf(dead.kept_as)).status).toBe('written');
    });
  });
});

test('a worker that starts later processes the kept changed delivery and leaves the dead delivery', async () => {
  await begin();
  await write(await acceptFirst('later'));
  const [resend, dead] = [await sendKept(CHANGED, 'later'), await sendKept(OTHER, 'later')];
  for (let start = 0; start < 2; start += 1) {
    await withWorker(async () => {
      await until(
        'the changed delivery is processed',
        async () => (await finalOf(resend.kept_as)).status === 'duplicate',
      );
    });
  }
  expect(await statusOf(dead.kept_as)).toMatchObject({ status: 'dead', attempts: 0 });
});

test('a delivery that Postgres rejects does not affect the other deliveries of its batch', async () => {
  await begin();
  await knex.raw(`
    create function reject_kept() returns trigger language plpgsql as
    $$ begin raise exception 'rejected'; end $$;
    create trigger reject_kept before insert on receipts for each row
    when (new.source_order_id = 'rejected') execute function reject_kept()`);
  const lines = (orders: object[]) => Buffer.from(orders.map((order) => JSON.stringify(order)).join('\n'));
  const [a, b, c] = ['A', 'B', 'C'].map((name) => ({ source_order_id: name }));
  await intakes[0].api.batch(account, lines([a, b, c] as object[]), key('rejecting'));
  const other = [{ source_order_id: 'X' }, { source_order_id: 'rejected' }, { source_order_id: 'Z' }];
  const { body } = await intakes[0].api.batch(account, lines(other), key('rejecting'));
  expect(body).toMatchObject({ accepted: 0, mismatched: 2, refused: 1 });
  expect(body.results[1].error.code).toBe('internal_error');
  await knex.raw('drop function reject_kept cascade');
});
