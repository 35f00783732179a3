import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { closeDatabase, type Database, listReview, openDatabase } from '@orders/database';
import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from './harness/database.ts';
import { insertOrder } from './harness/review-list.ts';

const ACCOUNT = 3;

let db: TestDatabase;
let database: Database;
beforeAll(async () => {
  db = await createTestDatabase();
  database = openDatabase({ url: db.url, poolSize: 1, prepared: true });
});
afterAll(async () => {
  await closeDatabase(database);
  await db.close();
});

const NOTHING = { channel: null, emirate: null, warned: null, writtenAfter: null, writtenBefore: null };
const search = (words: string) =>
  listReview(database, { ...NOTHING, accountId: ACCOUNT, state: 'needs_review', words }, { limit: 200 });

/** What Postgres and its syntax of queries mind, and what people write. */
const PIECES = [
  ...["'", '\\', ':', '*', '|', '&', '!', '(', ')', '<->', '=', '~', '-', '_', '/', '#', '+', '.', ' ', '\n', '\t'],
  ...['050', '1234567', '٠٥٠', 'أ', 'ة', 'ـ', 'é', 'İ', 'ß', '😀', 'a', 'Z', 'shop', '\u200f', '\u00a0', '\u0301'],
];
const text = fc.string({ unit: fc.constantFrom(...PIECES), minLength: 1, maxLength: 25 });
// Half an article is a letter, so only what is searched for whole has one.
const wholeText = fc.string({ unit: fc.constantFrom(...PIECES, 'ال'), minLength: 1, maxLength: 25 });

test('whatever is searched for, and whatever an order holds: the one finds the other by its beginning', () =>
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
