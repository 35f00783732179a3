import { expect, test } from '@jest/globals';
import { createAccount } from '@orders/database/accounts/accounts.ts';
import { reviewOrders } from '@orders/database/orders/review-orders.ts';
import { editStoredOrder } from '@orders/portal/review/edit-order.ts';
import { listReview } from '@orders/portal/review/list-review.ts';
import { undoReview } from '@orders/portal/review/undo-review.ts';
import { until } from '@orders/test-services/until.ts';
import { fillSearchTerms } from '@orders/worker/maintenance/fill-search-terms.ts';
import fc from 'fast-check';
import { whoWait } from '../harness/barriers.ts';
import { insertOrder, insertOrders, NO_FILTER } from '../harness/review-list.ts';
import { withStack } from '../harness/stack.ts';
import { useDatabase } from '../harness/use-stack.ts';

const { db } = useDatabase();

const MINUTE = 60_000;
const ago = (ms: number) => new Date(Date.now() - ms);
const BY = 'someone@example.com';

const openAccount = async () => (await createAccount(db.db, 'words')).account_id;
const fillAll = async () => {
  while ((await fillSearchTerms(db.db)) > 0);
};
const filledOf = (accountId: number): Promise<number[]> =>
  db.knex('order_words').where({ account_id: accountId }).orderBy('order_id').pluck('order_id');
const markOf = async (accountId: number): Promise<number | undefined> =>
  (await db.knex('order_words_marks').where({ account_id: accountId }).first())?.filled_to;

/** One page of matches, and whether there are more. */
async function search(accountId: number, searchTerms: string): Promise<[number[], boolean]> {
  const filter = { ...NO_FILTER, accountId, state: 'needs_review' as const, searchTerms };
  const { orders, next } = await listReview(db.database, filter, { limit: 50 });
  return [orders.map(({ order_id }) => order_id), next !== null];
}

test('creates the search terms of orders written more than a minute ago, up to the first younger one', async () => {
  const accountId = await openAccount();
  const old: number[] = [];
  for (let n = 0; n < 3; n += 1) old.push(await insertOrder(db.knex, accountId, { written_at: ago(2 * MINUTE) }));
  const young = await insertOrder(db.knex, accountId, { written_at: ago(-60 * MINUTE) });
  const behind = await insertOrder(db.knex, accountId, { written_at: ago(2 * MINUTE) });
  expect(await fillSearchTerms(db.db)).toBe(3);
  expect([await filledOf(accountId), await markOf(accountId)]).toEqual([old, old.at(-1)]);
  expect(await fillSearchTerms(db.db)).toBe(0);
  await db
    .knex('orders')
    .where({ order_id: young })
    .update({ written_at: ago(2 * MINUTE) });
  expect(await fillSearchTerms(db.db)).toBe(2);
  expect([await filledOf(accountId), await markOf(accountId)]).toEqual([[...old, young, behind], behind]);
});

test('search terms are created in batches, and the caller can stop after each batch', async () => {
  const [few, many] = [await openAccount(), await openAccount()];
  await insertOrders(db.knex, few, 3);
  await insertOrders(db.knex, many, 1200);
  expect(await fillSearchTerms(db.db, async () => false)).toBeLessThanOrEqual(500);
  await fillAll();
  const took: number[] = [];
  expect(await fillSearchTerms(db.db, async (ms) => took.push(ms) > 0)).toBe(0);
  expect(took).toEqual([]);
  expect([(await filledOf(few)).length, (await filledOf(many)).length]).toEqual([3, 1200]);
});

test('an account with endless orders does not delay the others', async () => {
  const [many, few] = [await openAccount(), await openAccount()];
  await insertOrders(db.knex, many, 6000);
  await insertOrders(db.knex, few, 3);
  expect(await fillSearchTerms(db.db)).toBe(5003);
  expect((await filledOf(few)).length).toBe(3);
  await fillAll();
});

test('only one of two simultaneous runs does the work', async () => {
  const accountId = await openAccount();
  await insertOrders(db.knex, accountId, 1200);
  const inBatch = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<boolean>();
  const first = fillSearchTerms(db.db, () => {
    inBatch.resolve();
    return goOn.promise;
  });
  await inBatch.promise;
  expect(await fillSearchTerms(db.db)).toBe(0);
  goOn.resolve(true);
  expect(await first).toBe(1200);
});

test('a run locks no account and no order, and does not wait for locked ones', async () => {
  const accountId = await openAccount();
  const id = await insertOrder(db.knex, accountId, { written_at: ago(2 * MINUTE) });
  const trx = await db.knex.transaction();
  await trx.raw('select from accounts where account_id = ? for update', [accountId]);
  await trx.raw('select from orders where account_id = ? for update', [accountId]);
  expect(await fillSearchTerms(db.db)).toBe(1);
  await trx.rollback();
  expect(await filledOf(accountId)).toEqual([id]);
});

test('search terms are removed when an order leaves the list, and created again when it returns', async () => {
  const accountId = await openAccount();
  const name = 'Before';
  const [a, b, c] = await insertOrders(db.knex, accountId, 3, { customer_name: name });
  const orderIds = [a, b, c] as number[];
  await insertOrders(db.knex, accountId, 600);
  await fillAll();
  expect(await search(accountId, name)).toEqual([orderIds.toReversed(), false]);
  await reviewOrders(db.db, { accountId, orderIds: [a as number], to: 'confirmed', by: BY });
  await reviewOrders(db.db, { accountId, orderIds: [b as number], to: 'rejected', by: BY, reason: 'twice' });
  expect((await filledOf(accountId)).filter((id) => orderIds.includes(id))).toEqual([c]);
  expect(await search(accountId, name)).toEqual([[c], false]);
  await undoReview(db.db, { accountId, orderIds: [a as number], by: BY });
  await reviewOrders(db.db, { accountId, orderIds: [b as number], to: 'needs_review', by: BY });
  expect(await search(accountId, name)).toEqual([orderIds.toReversed(), false]);
  await editStoredOrder(db.db, {
    accountId,
    orderId: c as number,
    edits: { '/customer/name': 'After' },
    by: BY,
  });
  expect(await search(accountId, name)).toEqual([[b, a], false]);
  expect(await search(accountId, 'after')).toEqual([[c], false]);
});

test('an order that changes while search terms are created keeps its current terms', async () => {
  const accountId = await openAccount();
  const ids = await insertOrders(db.knex, accountId, 4, { customer_name: 'Before' });
  const [blocked, edited, confirmed, undone] = ids as [number, number, number, number];
  await insertOrders(db.knex, accountId, 600);
  // The run has read all orders when it waits for the one whose terms this transaction inserts.
  const blocker = await db.knex.transaction();
  await blocker('order_words').insert({ account_id: accountId, order_id: blocked, words: '' });
  const filling = fillSearchTerms(db.db);
  await whoWait(db.knex, 1, 'transactionid');
  const edits = { '/customer/name': 'After' };
  await editStoredOrder(db.db, { accountId, orderId: edited, edits, by: BY });
  await editStoredOrder(db.db, { accountId, orderId: undone, edits, by: BY });
  await reviewOrders(db.db, { accountId, orderIds: [confirmed, undone], to: 'confirmed', by: BY });
  await undoReview(db.db, { accountId, orderIds: [undone], by: BY });
  await blocker.rollback();
  expect(await filling).toBe(604);
  expect(await search(accountId, 'before')).toEqual([[blocked], false]);
  expect(await search(accountId, 'after')).toEqual([[undone, edited], false]);
});

test.each([199, 200, 201, 1199, 1200, 1201])(
  'an order without search terms is found behind %i others without',
  async (others) => {
    const accountId = await openAccount();
    const [old] = await insertOrders(db.knex, accountId, 1, { customer_name: 'Rare' });
    await fillAll();
    const written_at = new Date();
    const [young] = await insertOrders(db.knex, accountId, 1, { customer_name: 'Rare', written_at });
    await insertOrders(db.knex, accountId, others, { written_at });
    const [first, hasMore] = await search(accountId, 'rare');
    // One page scans up to 1,200 orders.
    const isPast = others < 1200;
    expect([first, hasMore]).toEqual(isPast ? [[young, old], false] : [[], true]);
  },
);

test('a page is filled despite outdated search terms of reviewed orders', async () => {
  const accountId = await openAccount();
  const ids = await insertOrders(db.knex, accountId, 120, { customer_name: 'Rare' });
  await insertOrders(db.knex, accountId, 600);
  await fillAll();
  await db.knex('orders').whereIn('order_id', ids.slice(40)).update({ review_state: 'rejected' });
  expect(await search(accountId, 'rare')).toEqual([ids.slice(0, 40).toReversed(), false]);
});

test('a worker creates search terms regularly', () =>
  withStack('postgres', async (stack) => {
    const { id: accountId } = await stack.account();
    const { knex } = stack.database;
    await insertOrders(knex, accountId, 600);
    await stack.worker();
    await until('the search terms are created', async () => {
      const filled = await knex('order_words').where({ account_id: accountId }).pluck('order_id');
      return filled.length === 600;
    });
  }));

const ACCOUNT = 3;

const searchAll = (searchTerms: string) =>
  listReview(db.database, { ...NO_FILTER, accountId: ACCOUNT, state: 'needs_review', searchTerms }, { limit: 200 });

/** Characters that matter to Postgres text search, and ordinary words. */
const PIECES = [
  ...["'", '\\', ':', '*', '|', '&', '!', '(', ')', '<->', '=', '~', '-', '_', '/', '#', '+', '.', ' ', '\n', '\t'],
  ...['050', '1234567', '٠٥٠', 'أ', 'ة', 'ـ', 'é', 'İ', 'ß', '😀', 'a', 'Z', 'shop', '\u200f', '\u00a0', '\u0301'],
];
const text = fc.string({ unit: fc.constantFrom(...PIECES), minLength: 1, maxLength: 25 });
// Half of an Arabic article is a letter, so only whole searches contain an article.
const wholeText = fc.string({ unit: fc.constantFrom(...PIECES, 'ال'), minLength: 1, maxLength: 25 });

test('any order is found by any prefix of its values', () =>
  fc.assert(
    fc.asyncProperty(wholeText, text, fc.nat(25), async (name, number, length) => {
      const id = await insertOrder(db.knex, ACCOUNT, {
        customer_name: name,
        order_number: number,
        customer_phone: fc.sample(text, 1)[0],
      });
      const [whole, part] = [await searchAll(name), await searchAll([...number].slice(0, length).join(''))];
      expect(whole.orders.map(({ order_id }) => order_id)).toContain(id);
      expect(part.orders.map(({ order_id }) => order_id)).toContain(id);
    }),
    { numRuns: 150 },
  ));

test.each([
  ['my-shopify:820982911946154508', '820982911946154508'],
  [`${'x'.repeat(30)}:gid-1/Order`, 'gid-1/Order'],
])('an order of a source, %s, is found by %s', async (source_order_id, searchTerms) => {
  const id = await insertOrder(db.knex, ACCOUNT, { source_order_id });
  await fillSearchTerms(db.db);
  for (const searched of [searchTerms, source_order_id])
    expect((await searchAll(searched)).orders.map(({ order_id }) => order_id)).toEqual([id]);
});

/** All matches, newest first, over all pages. `between` runs after each page. */
async function allPages(accountId: number, searchTerms: string, between: () => Promise<unknown>): Promise<number[]> {
  const found: number[] = [];
  for (let after: number | null | undefined; after !== null; ) {
    const filter = { ...NO_FILTER, accountId, state: 'needs_review' as const, searchTerms };
    const page = await listReview(db.database, filter, { after: after ?? null, limit: 50 });
    found.push(...page.orders.map(({ order_id }) => order_id));
    after = page.next;
    await between();
  }
  return found;
}

const SIZE = 7000;
const place = fc.noBias(fc.nat(SIZE - 1));

/** The first order of `before` is confirmed and edited after that. */
const CONFIRMED_THEN_EDITED = { unfilled: 0, rare: [...Array(12).keys()], before: [0], after: [], fillsBetween: false };

test('a search finds every matching order once, however many search terms exist yet', () =>
  fc.assert(
    fc.asyncProperty(
      fc.record({
        unfilled: fc.oneof(fc.constantFrom(0, SIZE), place, place, place),
        rare: fc.uniqueArray(place, { minLength: 12, maxLength: 40 }),
        before: fc.uniqueArray(place, { maxLength: 10 }),
        after: fc.uniqueArray(place, { maxLength: 10 }),
        fillsBetween: fc.boolean(),
      }),
      async ({ unfilled, rare, before, after, fillsBetween }) => {
        const { knex } = db;
        const { account_id: accountId } = await createAccount(db.db, 'words');
        const ids = await insertOrders(knex, accountId, SIZE);
        const idsAt = (places: readonly number[]) => places.map((at) => ids[at] as number);
        const waiting = new Set(idsAt(rare));
        await knex('orders').whereIn('order_id', idsAt(rare)).update({ customer_name: 'Rare' });
        await knex('orders')
          .whereIn('order_id', ids.slice(SIZE - unfilled))
          .update({ written_at: new Date() });
        /** Confirms one half of the orders and renames the other half. */
        const change = async (places: readonly number[]) => {
          const gone = idsAt(places.filter((_, index) => index % 2 === 0)).filter((id) => waiting.has(id));
          await reviewOrders(db.db, { accountId, orderIds: gone, to: 'confirmed', by: 'x' });
          for (const id of gone) waiting.delete(id);
          const edits = { '/customer/name': 'Rare' };
          for (const orderId of idsAt(places.filter((_, index) => index % 2 === 1))) {
            const edited = await editStoredOrder(db.db, { accountId, orderId, edits, by: 'x' });
            if (edited !== null && edited !== 'conflict') waiting.add(orderId);
          }
        };
        const fill = async () => {
          while ((await fillSearchTerms(db.db)) > 0);
        };
        await change([...before, ...rare.slice(0, 6)]);
        await fill();
        await change([...after, ...rare.slice(6, 12)]);
        const between = async () => {
          if (!fillsBetween) return;
          await knex('orders')
            .where({ account_id: accountId })
            .update({ written_at: new Date(0) });
          await fill();
        };
        expect(await allPages(accountId, 'rare', between)).toEqual([...waiting].toSorted((a, b) => b - a));
        expect(await allPages(accountId, 'nobody', between)).toEqual([]);
        await knex('orders').where({ account_id: accountId }).delete();
        await knex('order_words').where({ account_id: accountId }).delete();
      },
    ),
    { numRuns: 12, examples: [[CONFIRMED_THEN_EDITED]] },
  ));
