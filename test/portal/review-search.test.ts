import { expect, test } from '@jest/globals';
import { createAccount } from '@orders/database/accounts/accounts.ts';
import { reviewOrders } from '@orders/database/orders/review-orders.ts';
import { editStoredOrder } from '@orders/portal/review/edit-order.ts';
import { listReview } from '@orders/portal/review/list-review.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { fillSearchTerms } from '@orders/worker/maintenance/fill-search-terms.ts';
import fc from 'fast-check';
import { insertOrder, insertOrders, NO_FILTER } from '../harness/review-list.ts';
import { useDatabase } from '../harness/use-database.ts';

const ACCOUNT = 3;

const { db } = useDatabase();

const search = (searchTerms: string) =>
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
      const [whole, part] = [await search(name), await search([...number].slice(0, length).join(''))];
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
    expect((await search(searched)).orders.map(({ order_id }) => order_id)).toEqual([id]);
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
        const { account_id: accountId } = await createAccount(connectionOf(knex), 'words');
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
          await reviewOrders(connectionOf(knex), { accountId, orderIds: gone, to: 'confirmed', by: 'x' });
          for (const id of gone) waiting.delete(id);
          const edits = { '/customer/name': 'Rare' };
          for (const orderId of idsAt(places.filter((_, index) => index % 2 === 1))) {
            const edited = await editStoredOrder(connectionOf(knex), { accountId, orderId, edits, by: 'x' });
            if (edited !== null && edited !== 'conflict') waiting.add(orderId);
          }
        };
        const fill = async () => {
          while ((await fillSearchTerms(connectionOf(knex))) > 0);
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
