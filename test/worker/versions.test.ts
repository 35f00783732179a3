import { randomUUIDv7 } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { setHoldChangedDeliveries } from '@orders/database/accounts/accounts.ts';
import { recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { ascending } from '@orders/database/receipts/uuids.ts';
import type { Source } from '@orders/database/sources/sources.ts';
import { PRESETS } from '@orders/domain/sources/presets.ts';
import { findChangedDeliveries } from '@orders/portal/review/find-changed-deliveries.ts';
import { hold, waitForLocksWithoutLimit, whoWait } from '../harness/barriers.ts';
import { newReceipt } from '../harness/new-receipt.ts';
import { createTestSource, deliver, shopifyHeaders, wooCommerceHeaders } from '../harness/sources.ts';
import { useStack } from '../harness/use-stack.ts';

let source: Source;

const { stack, knex, db, api, account } = useStack({ intake: true, worker: true, account: 'each test' });

beforeEach(async () => {
  source = await createTestSource(stack, account, 'woocommerce');
});

/** Sends the order as it is at a minute of the platform's clock. @returns its final receipt, or the reply without one. */
async function send(minute: number, status: string, content: object = {}) {
  const body = JSON.stringify({
    id: 7,
    number: '7',
    status,
    total: '10.00',
    date_modified_gmt: `2026-11-28T10:${String(minute).padStart(2, '0')}:00`,
    ...content,
  });
  const reply = await deliver(api, source, body, wooCommerceHeaders(body, 'order.updated'));
  return reply.status === 202 ? (await api.final(account, reply.body.receipt_id)).body : reply.body;
}
const note = (text: string) => ({ customer_note: text });
const readOrder = () => knex('orders').where({ account_id: account.id }).first();
const offered = async () => {
  const { order_id } = await readOrder();
  const [newest] = await findChangedDeliveries(db, account.id, [order_id]);
  return newest && !newest.is_outdated ? newest.changes.map(({ to }) => to) : null;
};

describe('the version of an order that counts is the newest by the clock of the platform', () => {
  test('of two changes in the wrong sequence', async () => {
    await send(0, 'processing');
    await send(20, 'processing', note('the newer one'));
    expect(await send(10, 'processing', note('the older one'))).toMatchObject({ status: 'duplicate', outdated: true });
    expect(await offered()).toEqual(['the newer one']);
  });

  test('of a change that is older than the order itself', async () => {
    await send(10, 'processing', note('as it is'));
    expect(await send(0, 'processing', note('as it was'))).toMatchObject({
      changes: [{ pointer: '/delivery_instructions', from: 'as it is', to: 'as it was' }],
      outdated: true,
    });
    expect(await offered()).toBeNull();
  });

  test('of a change that the platform took back', async () => {
    await send(0, 'processing');
    const changed = await send(10, 'processing', note('a mistake'));
    expect(await offered()).toEqual(['a mistake']);
    expect(await send(20, 'processing')).toMatchObject({ changes: [], outdated: false });
    expect(await offered()).toBeNull();
    expect((await api.final(account, changed.receipt_id)).body).toMatchObject({ outdated: true });
  });

  test('of a change that the platform took back before a worker came', async () => {
    await send(0, 'processing');
    const ids = ascending(Array.from({ length: 3 }, () => randomUUIDv7()));
    // The first one of a batch is stored before the others.
    const receipts = ['a change', 'a mistake', null].map((delivery_instructions, minute) => ({
      ...newReceipt({ accountId: account.id, channel: 'webhook', sourceOrderId: 'my-woocommerce:7' }),
      receiptId: ids[minute] as string,
      body: Buffer.from(JSON.stringify({ source_order_id: 'my-woocommerce:7', delivery_instructions })),
      delivery: {
        sourceNumber: source.source_number,
        kind: 'order' as const,
        modifiedAt: new Date(Date.UTC(2026, 10, 28, 10, 10 + minute)),
        raw: Buffer.from('{}'),
      },
    }));
    await recordReceipts(db, randomUUIDv7(), 0, receipts);
    for (const { receiptId } of receipts) await api.final(account, receiptId);
    expect(await offered()).toBeNull();
  });

  test('of two that are as old as each other, by the order of arrival', async () => {
    await send(0, 'processing');
    await send(10, 'processing', note('first'));
    expect(await send(10, 'processing', note('second'))).toMatchObject({ outdated: false });
    expect(await offered()).toEqual(['second']);
  });

  test('of a cancellation that is older than the order', async () => {
    await send(10, 'processing');
    expect(await send(5, 'cancelled')).toEqual({ outcome: 'outdated' });
    expect(await readOrder()).toMatchObject({ review_state: 'needs_review' });
    expect(await send(10, 'cancelled')).toEqual({ outcome: 'cancelled' });
  });

  test('of a cancellation that arrives while a newer version is written', async () => {
    await waitForLocksWithoutLimit(knex);
    await send(0, 'processing');
    const writing = await hold(
      knex,
      `update orders set platform_modified_at = '2026-11-28T10:10:00Z' where account_id = ${account.id}`,
    );
    const cancelled = send(5, 'cancelled');
    await whoWait(knex, 1, 'transactionid');
    await writing.release();
    expect(await cancelled).toEqual({ outcome: 'outdated' });
    expect(await readOrder()).toMatchObject({ review_state: 'needs_review' });
  });

  test('of a cancellation that is repeated after the order was ordered again', async () => {
    await send(0, 'processing');
    await send(5, 'cancelled');
    await send(10, 'processing');
    expect(await send(5, 'cancelled')).toEqual({ outcome: 'outdated' });
    expect(await readOrder()).toMatchObject({ review_state: 'needs_review' });
  });

  test('of an order that arrives after its cancellation', async () => {
    expect(await send(5, 'cancelled')).toEqual({ outcome: 'held' });
    expect(await send(10, 'processing')).toMatchObject({ status: 'written', order_state: 'needs_review' });
    expect((await readOrder()).warnings).toMatchObject([{ code: 'ordered_again' }]);
  });

  test('of an order that arrives after its cancellation and is older', async () => {
    expect(await send(5, 'cancelled')).toEqual({ outcome: 'held' });
    expect(await send(0, 'processing')).toMatchObject({ status: 'written', order_state: 'cancelled' });
  });
});

describe('the payment of an order that needs review follows its platform', () => {
  const paymentOf = async () => {
    const { payment_state, severity } = await readOrder();
    return [payment_state, severity];
  };
  const address = { first_name: 'A', address_1: 'Villa 1', city: 'Dubai', country: 'AE', phone: '0501234567' };
  const deliverable = { shipping: address, line_items: [{ name: 'Lamp', quantity: 1 }] };

  test('without a decision, with audit and the severity that follows', async () => {
    await send(0, 'pending', deliverable);
    expect(await paymentOf()).toEqual(['unpaid', 'check']);
    const paid = await send(10, 'processing', deliverable);
    expect(paid).toMatchObject({ changes: [{ pointer: '/payment_state', from: 'unpaid', to: 'paid' }] });
    expect(await paymentOf()).toEqual(['paid', expect.not.stringMatching('check')]);
    const [entry] = await knex('audit_events').where({ account_id: account.id }).orderBy('event_id', 'desc').limit(1);
    expect(entry).toMatchObject({
      actor: 'source:my woocommerce',
      action: 'order_edited',
      details: { changes: [{ pointer: '/payment_state', before: 'unpaid', after: 'paid' }] },
    });
    const { order_id } = await readOrder();
    expect(await findChangedDeliveries(db, account.id, [order_id])).toMatchObject([
      { decision: 'accepted', decided_by: 'source:my woocommerce' },
    ]);
  });

  test('also if an older delivery says otherwise', async () => {
    await send(10, 'processing', deliverable);
    expect(await send(0, 'pending', deliverable)).toMatchObject({ outdated: true });
    expect(await paymentOf()).toEqual(['paid', expect.not.stringMatching('check')]);
  });

  test('back to what it was, while other changes wait', async () => {
    await send(0, 'pending', deliverable);
    await send(10, 'processing', { ...deliverable, ...note('call first') });
    expect(await paymentOf()).toEqual(['paid', expect.not.stringMatching('check')]);
    await send(20, 'pending', deliverable);
    expect(await paymentOf()).toEqual(['unpaid', 'check']);
  });

  test('but what a reviewer said stays if the platform says the same again', async () => {
    await send(0, 'pending', deliverable);
    await knex('orders').where({ account_id: account.id }).update({ payment_state: 'cash_on_delivery' });
    await send(10, 'pending', { ...deliverable, ...note('call first') });
    expect(await paymentOf()).toEqual(['cash_on_delivery', 'check']);
  });

  test('while its other changes wait, and an order on hold is not confirmed', async () => {
    await setHoldChangedDeliveries(db, account.id, true);
    await send(0, 'pending', deliverable);
    await send(10, 'processing', { ...deliverable, ...note('call first') });
    expect(await readOrder()).toMatchObject({ payment_state: 'paid', delivery_instructions: null });
    expect(await offered()).toContain('call first');
  });
});

test('an order that its platform finished before anybody reviewed it says so', async () => {
  await send(0, 'processing');
  expect(await send(10, 'completed')).toMatchObject({
    changes: [{ pointer: '/finished', from: false, to: true }],
    order_state: 'needs_review',
  });
});

test('an order is wanted again, and finished, by deliveries that say nothing else after an accepted change', async () => {
  await send(0, 'pending');
  await send(5, 'processing');
  await send(10, 'cancelled');
  expect(await send(15, 'processing')).toMatchObject({ changes: [{ pointer: '/cancelled', from: true, to: false }] });
  expect(await send(20, 'completed')).toMatchObject({ changes: [{ pointer: '/finished', from: false, to: true }] });
});

test('an order that was cancelled and then refunded stays cancelled', async () => {
  await send(0, 'processing');
  await send(5, 'cancelled');
  expect(await send(10, 'refunded')).toMatchObject({ order_state: 'cancelled' });
});

type Preset = 'shopify' | 'woocommerce';
/** What a platform says of an order at one time. */
interface Version {
  unpaid?: boolean;
  cancelled?: boolean;
  note?: string;
}

/** The body with which a platform sends the version of an order that it made at a minute of its clock. */
const BODIES: Record<Preset, (id: number, minute: number, version: Version) => object> = {
  woocommerce: (id, minute, { unpaid, cancelled, note = '' }) => ({
    id,
    status: cancelled ? 'cancelled' : unpaid ? 'pending' : 'processing',
    customer_note: note,
    date_modified_gmt: `2026-11-28T10:0${minute}:00`,
  }),
  shopify: (id, minute, { unpaid, cancelled, note = null }) => ({
    id,
    financial_status: unpaid ? 'pending' : 'paid',
    cancelled_at: cancelled ? `2026-11-28T10:0${minute}:00+04:00` : null,
    note,
    updated_at: `2026-11-28T10:0${minute}:00+04:00`,
  }),
};
const HEADERS = {
  woocommerce: (body: string) => wooCommerceHeaders(body, 'order.updated'),
  shopify: (body: string) => shopifyHeaders(body, 'orders/updated'),
};

function permutations<Value>(values: readonly Value[]): Value[][] {
  if (values.length < 2) return [[...values]];
  return values.flatMap((first, index) => permutations(values.toSpliced(index, 1)).map((rest) => [first, ...rest]));
}

/** Each sequence in which the versions of an order can arrive, the same with the first repeated, and with one lost but the last. */
function sequencesOf(count: number): number[][] {
  const all = permutations([...Array(count).keys()]);
  const lost = all.map((sequence) => sequence.filter((version) => version !== 0));
  return [...all, ...all.map((sequence) => [...sequence, ...sequence.slice(0, 1)]), ...lost];
}

async function sendVersion(preset: Preset, id: number, minute: number, version: Version): Promise<void> {
  const body = JSON.stringify(BODIES[preset](id, minute, version));
  const reply = await deliver(api, source, body, HEADERS[preset](body));
  expect([200, 202]).toContain(reply.status);
  if (reply.status === 202) await api.final(account, reply.body.receipt_id);
}

/** What a person sees of an order: its state, whether it is paid, and its note, or the one that waits to be accepted. */
async function seen(id: number) {
  const row = await knex('orders')
    .where({ account_id: account.id, source_order_id: `${source.id_prefix}:${id}` })
    .first();
  const [newest] = await findChangedDeliveries(db, account.id, [row.order_id]);
  const offered = newest?.decision === null && !newest.is_outdated ? newest.changes : [];
  const note = offered.find(({ pointer }) => pointer === '/delivery_instructions');
  return [row.review_state, row.payment_state, note ? note.to : row.delivery_instructions];
}

const LIVES: [name: string, versions: Version[], seen: unknown[]][] = [
  [
    'paid, then edited twice',
    [{ unpaid: true }, {}, { note: 'Ring' }, { note: 'Knock' }],
    ['needs_review', 'paid', 'Knock'],
  ],
  ['edited, and the edit taken back', [{}, { note: 'Ring' }, {}], ['needs_review', 'paid', null]],
  [
    'cancelled as nobody paid, then paid',
    [{ unpaid: true }, { unpaid: true, cancelled: true }, {}],
    ['needs_review', 'paid', null],
  ],
  ['cancelled in the end', [{ unpaid: true }, {}, { cancelled: true }], ['cancelled', expect.anything(), null]],
];

const SOURCES = [
  ['woocommerce', '', false],
  ['shopify', '', false],
  ['shopify', ' that waits until orders are paid', true],
] as const;

test.each(
  LIVES.flatMap(([name, ...life]) =>
    SOURCES.map(([preset, waits, waitUntilPaid]) => [name, preset, waits, waitUntilPaid, ...life] as const),
  ),
)(
  'an order that was %s, of %s%s, is the same in whatever sequence its versions arrive',
  async (_name, preset, _waits, waitUntilPaid, versions, expected) => {
    const settings = { ...PRESETS[preset].settings, waitUntilPaid };
    source = await createTestSource(stack, account, preset, { settings });
    const sequences = sequencesOf(versions.length);
    await Promise.all(
      sequences.map(async (sequence, id) => {
        for (const minute of sequence) await sendVersion(preset, id + 1, minute, versions[minute] as Version);
      }),
    );
    const outcomes = await Promise.all(sequences.map(async (sequence, id) => [sequence.join(), await seen(id + 1)]));
    expect(outcomes).toEqual(sequences.map((sequence) => [sequence.join(), expected]));
  },
);
