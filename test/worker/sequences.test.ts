import { expect, test } from '@jest/globals';
import type { Source } from '@orders/database/sources/sources.ts';
import { PRESETS } from '@orders/domain/sources/presets.ts';
import { findChangedDeliveries } from '@orders/portal/review/find-changed-deliveries.ts';
import { createTestSource, deliver, shopifyHeaders, wooCommerceHeaders } from '../harness/sources.ts';
import { useStack } from '../harness/use-stack.ts';

let source: Source;

const { stack, knex, db, api, account } = useStack({ intake: true, worker: true, account: 'each test' });

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

async function send(preset: Preset, id: number, minute: number, version: Version): Promise<void> {
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
        for (const minute of sequence) await send(preset, id + 1, minute, versions[minute] as Version);
      }),
    );
    const outcomes = await Promise.all(sequences.map(async (sequence, id) => [sequence.join(), await seen(id + 1)]));
    expect(outcomes).toEqual(sequences.map((sequence) => [sequence.join(), expected]));
  },
);
