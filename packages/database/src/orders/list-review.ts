import type { ReviewState } from '@orders/domain';
import { type Database, run, type Statement } from '../connect.ts';
import { findFirstSince } from './find-first-since.ts';
import { LISTED_COLUMNS, type ListedOrder, type ListedRow, orderRow, toListed } from './orders.ts';
import {
  inState,
  MATCHES,
  type PreparedFilter,
  parametersOf,
  prepareFilter,
  type ReviewFilter,
  SLACK_MS,
  WRITTEN,
} from './review-filter.ts';

/** A page of the list, newest first. */
export interface ReviewPage {
  orders: ListedOrder[];
  /**
   * Where the next page begins; null at the end of the list. A page that has another may be short, and even empty, when what is looked
   * for is rare: each page is looked for in a bounded part of the list.
   */
  nextBelow: number | null;
}

/** Above every order id. */
const ANY_ID = Number.MAX_SAFE_INTEGER;

/** Orders that are looked at one after the other before the index of words is asked, and once more; fewer where words must be made. */
const STRETCHES = { plain: [2000, 10_000], words: [500, 5000] } as const;
/** What the index of words may find: more matches cannot be fetched and sorted within the time of a page. */
const MAX_MATCHES = 5000;

const walk = (state: ReviewState): Statement => ({
  name: `walk-orders-${state}`,
  text: `
select ${LISTED_COLUMNS} from (
  select * from orders where ${inState(state)} order by order_id desc limit $10::int
) as o
where ${MATCHES}
order by order_id desc limit $11::int`,
});

/** The first order behind a stretch. */
const walkEnd = (state: ReviewState): Statement => ({
  name: `walk-end-${state}`,
  text: `select order_id from orders where ${inState(state)} order by order_id desc offset $4::int limit 1`,
});

/** Up to which order the index of words knows all that need review. It only grows, so it may be read before the index, never after. */
const MARK = {
  name: 'find-words-mark',
  text: 'select filled_to from order_words_marks where account_id = $1::int',
};

const FIND = {
  name: 'find-orders-by-words',
  // The account is in the words; to say it otherwise would let the planner choose another index. The words of an order that needs review
  // are always its own; of others, some are left.
  text: `
with found as materialized (
  select order_id from order_words where words @@ $6::tsquery and account_id + 0 = $1::int limit ${MAX_MATCHES}
)
select ${LISTED_COLUMNS}, found.matches
from (select count(*) as matches from found) as found
left join lateral (
  select o.* from (
    select order_id from found where order_id < $2::bigint and order_id >= $3::bigint order by order_id desc
  ) as newest
  cross join lateral (${orderRow('$1::int', 'newest.order_id')}) as o
  where o.review_state = 'needs_review' and ${WRITTEN}
  order by newest.order_id desc limit $7::int
) as o on true
order by o.order_id desc`,
};

/**
 * A page of the list of orders, newest first, of those with ids below `below`. What it costs does not grow with the list: it is looked for
 * among the next orders, by the index of words, and among some more, and when it is not full then, the rest is for the next page. Orders
 * that the index does not know yet are only walked.
 */
export async function listReview(
  database: Database,
  filter: ReviewFilter,
  { below = null, limit }: { below?: number | null; limit: number },
): Promise<ReviewPage> {
  const { accountId, state, writtenAfter, writtenBefore } = filter;
  const prepared = await prepareFilter(database, filter);
  const firstSince = (time: number) => findFirstSince(database, { accountId, state, since: new Date(time) });
  const floor = writtenAfter ? ((await firstSince(writtenAfter.getTime() - SLACK_MS)) ?? ANY_ID) : 0;
  const ceiling = writtenBefore ? ((await firstSince(writtenBefore.getTime() + SLACK_MS)) ?? ANY_ID) : ANY_ID;

  let from = Math.min(below ?? ANY_ID, ceiling);
  const found: ListedRow[] = [];
  const toPage = (nextBelow: number | null): ReviewPage => {
    const orders = found.slice(0, limit).map(toListed);
    return { orders, nextBelow: found.length > limit ? (orders.at(-1)?.order_id ?? null) : nextBelow };
  };
  /** Whether that was all: the page is full, or the list at its end. */
  const walkOn = async (stretch: number): Promise<boolean> => {
    const values = [...parametersOf(prepared, from, floor), stretch, limit + 1 - found.length];
    found.push(...(await run<ListedRow>(database, walk(state), values)));
    if (found.length > limit) return true;
    const [next] = await run<{ order_id: number }>(database, walkEnd(state), [accountId, from, floor, stretch]);
    if (next) from = next.order_id + 1;
    return !next;
  };
  /** Whether the index of words knows all orders that are left, and found few enough of them, which then are all. */
  const findRest = async (): Promise<boolean> => {
    if (!isIndexed()) return false;
    const rest = await findByWords(database, prepared, { below: from, floor, limit: limit + 1 - found.length });
    found.push(...(rest ?? []));
    return rest !== null;
  };

  const [short, long] = STRETCHES[prepared.words === null ? 'plain' : 'words'];
  if (await walkOn(short)) return toPage(null);
  const [mark] = prepared.indexed === null ? [] : await run<{ filled_to: number }>(database, MARK, [accountId]);
  const isIndexed = () => mark !== undefined && from - 1 <= mark.filled_to;
  const isFrequent = (found.length / short) * long >= limit - found.length;
  for (const step of isFrequent || !isIndexed() ? [() => walkOn(long), findRest] : [findRest, () => walkOn(long)]) {
    if (await step()) return toPage(null);
  }
  return toPage(from);
}

/** Matches with ids in a range, newest first; null when there are too many to tell which are the newest. */
async function findByWords(
  database: Database,
  { filter, indexed }: PreparedFilter,
  { below, floor, limit }: { below: number; floor: number; limit: number },
): Promise<ListedRow[] | null> {
  const { accountId, writtenAfter, writtenBefore } = filter;
  const values = [accountId, below, floor, writtenAfter, writtenBefore, indexed, limit];
  const rows = await run<ListedRow & { matches: number }>(database, FIND, values);
  if ((rows[0]?.matches ?? 0) >= MAX_MATCHES) return null;
  return rows.filter(({ order_id }) => order_id !== null);
}
