import type { Channel, ReviewState } from '@orders/domain';
import { type Database, run } from '../connect.ts';
import { queryForFilter, queryForWords } from './search-query.ts';

/** Filter of an account's list of orders; null matches all. */
export interface ReviewFilter {
  accountId: number;
  state: ReviewState;
  /** Words, each a prefix of a word in a number or name of the order, or a phone number or its end. */
  words: string | null;
  channel: Channel | null;
  /** A code of ISO 3166-2, or `none` for orders without one. */
  emirate: string | null;
  /** Whether normalization added warnings. */
  warned: boolean | null;
  /** When the order was written: from `writtenAfter`, inclusive, to `writtenBefore`, exclusive. */
  writtenAfter: Date | null;
  writtenBefore: Date | null;
}

/** Orders are written in id order, except for concurrent writes within this time. */
export const SLACK_MS = 60_000;

/** SQL: orders of account $1 in a state, with ids below $2 and at least $3. The state is a literal, as its index is partial. */
export const inState = (state: ReviewState) =>
  `account_id = $1::int and review_state = '${state}' and order_id < $2::bigint and order_id >= $3::bigint`;

export const WORDS =
  'order_words(account_id, source_order_id, order_number, customer_name, customer_phone, channel, emirate_code, warnings)';

export const WRITTEN = `
  ($4::timestamptz is null or written_at >= $4::timestamptz) and ($5::timestamptz is null or written_at < $5::timestamptz)`;

/** Cheap conditions first: computing the search terms of an order takes about five microseconds. */
export const MATCHES = `${WRITTEN}
  and ($6::text is null or channel = $6::text) and ($7::text is null or coalesce(emirate_code, 'none') = $7::text)
  and ($8::boolean is null or (warnings <> '[]') = $8::boolean) and ($9::tsquery is null or ${WORDS} @@ $9::tsquery)`;

export interface PreparedFilter {
  filter: ReviewFilter;
  /** The `tsquery` for `filter.words`. */
  words: string | null;
  /** The `tsquery` for the search index, with the other conditions; null when the index cannot help. */
  indexed: string | null;
}

const FOLD = { name: 'fold-words', text: 'select fold_words($1::text) as words' };

export async function prepareFilter(database: Database, filter: ReviewFilter): Promise<PreparedFilter> {
  const { accountId, state, words: given } = filter;
  const folded = given === null ? [] : await run<{ words: string }>(database, FOLD, [given]);
  const words = queryForWords(accountId, folded[0]?.words ?? '');
  const facets = queryForFilter(accountId, filter);
  const indexed = words && facets ? `${words} & ${facets}` : (words ?? facets);
  return { filter, words, indexed: state === 'needs_review' ? indexed : null };
}

/** The parameters $1 to $9 of `inState` and `MATCHES`. */
export function parametersOf({ filter, words }: PreparedFilter, below: number, floor: number): unknown[] {
  const { accountId, writtenAfter, writtenBefore, channel, emirate, warned } = filter;
  return [accountId, below, floor, writtenAfter, writtenBefore, channel, emirate, warned, words];
}
