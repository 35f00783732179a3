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
  ...[
    "'",
    '\\',
    ':',
    '*',
    '|',
    '&',
    '!',
    '(',
    ')',
    '<->',
    '=',
    '~',
    '-',
    '_',
    '/',
    '#',
    '+',
    '.',
    ',',
    '"',
    '[',
    ';',
    '،',
    ' ',
    '\n',
    '\t',
  ],
  ...[
    '050',
    '1234567',
    '٠٥٠',
    'أ',
    'ة',
    'ـ',
    'é',
    'İ',
    '\u064e',
    'ß',
    '😀',
    'a',
    'Z',
    'shop',
    '\u200f',
    '\u00a0',
    '\u0301',
  ],
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

const WHOLE_ORDER = {
  source_order_id: 'my-shop:70991',
  order_number: 'WEB/٧٧١٢',
  customer_name: 'إبْراهيــم المنصوري',
  customer_phone: '+971507654321',
  customer_email: 'ali.hassan@mail-place.example',
  customer_id: 'cus_84Xq',
  address: 'Villa 12B, Street 4/شارع الوصل، بناية ٣',
  area: 'Al Barsha (South)',
  items: JSON.stringify([
    { name: 'Kunafa "large" cut\\back', quantity: 1, sku: 'KN-77.L' },
    { name: 'Karak', quantity: 2, sku: null },
  ]),
};

test('an order is found by what is known of it, with and without its words in the index', async () => {
  const { account_id: accountId } = await createAccount(connectionOf(db.knex), 'fields');
  const id = await insertOrder(db.knex, accountId, { ...WHOLE_ORDER, written_at: new Date(0) });
  const found = async () => {
    const searches = [
      ...[
        'my-shop:70991',
        '70991',
        'web/7712',
        '٧٧١٢',
        'ابراهيم',
        'منصورى',
        'المنصوري',
        '050 765 4321',
        '4321',
        '٤٣٢١',
      ],
      ...[
        'ALI.hassan@mail-place.example',
        'ali.hassan@mai',
        'hassan',
        'mail-place',
        'cus_84xq',
        '84x',
        'villa 12b',
        '۱۲B',
      ],
      ...[
        'street 4',
        'الوصل',
        'وصل شارع',
        'بنايه 3',
        'barsha south',
        'south)',
        'kunafa',
        'large kunafa',
        'cut\\back',
        'KN-77',
        'kn-77.l',
        'kara',
      ],
      ...['hassan kunafa barsha', "karak's", 'null', 'hassan 4322', 'mail-places'],
    ];
    const misses: string[] = [];
    for (const searchTerms of searches) {
      const filter = { ...NO_FILTER, accountId, state: 'needs_review' as const, searchTerms };
      // The ids of other orders are random and may begin like it.
      const { orders } = await listReview(db.database, filter, { limit: 200 });
      if (!orders.some(({ order_id }) => order_id === id)) misses.push(searchTerms);
    }
    return misses;
  };
  const absent = ["karak's", 'null', 'hassan 4322', 'mail-places'];
  expect(await found()).toEqual(absent);
  await insertOrders(db.knex, accountId, 600);
  while ((await fillSearchTerms(db.db)) > 0);
  expect(await found()).toEqual(absent);
});

test('of an order with endless texts and words, the beginning is searched, and later orders get their words', async () => {
  const { account_id: accountId } = await createAccount(connectionOf(db.knex), 'endless');
  const items = Array.from({ length: 1000 }, (_, n) => ({
    name: `n${n} ${'😀'.repeat(1990)}`,
    quantity: 1,
    sku: null,
  }));
  const written_at = new Date(0);
  const endless = await insertOrder(db.knex, accountId, {
    ...{ items: JSON.stringify(items), customer_name: 'İ'.repeat(5000), source_order_id: 'ش'.repeat(255), written_at },
    customer_email: `${'é'.repeat(300)}@example.com`,
  });
  const many = await insertOrder(db.knex, accountId, { items: JSON.stringify(items), address: 'Far', written_at });
  while ((await fillSearchTerms(db.db)) > 0);
  // Postgres does not check the length of words, which it stores in 11 bits.
  const { rows } = await db.knex.raw(
    'select max(length(lexeme)) as longest from order_words, unnest(words) where account_id = ?',
    [accountId],
  );
  expect(rows).toEqual([{ longest: `${accountId}:`.length + 200 }]);
  await insertOrders(db.knex, accountId, 600);
  for (const [searchTerms, ids] of [
    ['İ'.repeat(200), [endless]],
    ['ش'.repeat(200), [endless]],
    ['far n0', [many]],
    ['n999', []],
  ] as const) {
    const filter = { ...NO_FILTER, accountId, state: 'needs_review' as const, searchTerms };
    const { orders } = await listReview(db.database, filter, { limit: 5 });
    expect([searchTerms, orders.map(({ order_id }) => order_id)]).toEqual([searchTerms, ids]);
  }
});

test('an edit changes by which words an order is found', async () => {
  const orderId = await insertOrder(db.knex, ACCOUNT, { ...WHOLE_ORDER, source_order_id: 'edited' });
  const edits = { '/address': 'Warehouse Nineteen', '/customer/email': 'new.person@mail.example' };
  await editStoredOrder(db.db, { accountId: ACCOUNT, orderId, edits, by: 'x' });
  const { rows } = await db.knex.raw('select words::text from order_words where order_id = ?', [orderId]);
  expect(rows[0].words).toMatch(/'3:nineteen'.*'3:person'/);
  expect(rows[0].words).not.toMatch(/villa|الوصل|hassan|place/);
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
