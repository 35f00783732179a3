import type { Database } from '@orders/database/connect.ts';
import { SEARCH_TERMS, SLACK_MS } from '@orders/database/orders/update-search-terms.ts';
import { inTransaction, run, SEARCH_TERMS_LOCK } from '@orders/database/run.ts';

const HOUR_MS = 3_600_000;
const BATCH_SIZE = 500;
/** Max batches per account, and max accounts, per run. */
const MAX_BATCHES = 10;
const MAX_ACCOUNTS = 100;

// Orders with smaller ids are committed by then.
const IS_COMPLETE = `written_at < now() - interval '${SLACK_MS} milliseconds'`;

// One probe of the index orders_needing_review per account. Random order, so that no account starves.
const FIND_ACCOUNTS = `
select a.account_id
from accounts a
left join order_words_marks m on m.account_id = a.account_id
cross join lateral (
  select written_at from orders
  where account_id = a.account_id and review_state = 'needs_review' and order_id > coalesce(m.filled_to, 0)
  order by order_id limit 1
) as first
where ${IS_COMPLETE}
order by random() limit ${MAX_ACCOUNTS}`;

// Stops at the first order that is too new, as an order with a smaller id may still commit. Existing search terms are kept: they come from
// an edit or a reopening and are newer than this statement's snapshot.
const FILL = `
with next as materialized (
  select order_id, written_at, ${SEARCH_TERMS} as words from orders
  where account_id = $1::int and review_state = 'needs_review'
    and order_id > coalesce((select filled_to from order_words_marks where account_id = $1::int), 0)
  order by order_id limit ${BATCH_SIZE}
), complete as materialized (
  select order_id, words from (
    select *, bool_and(${IS_COMPLETE}) over (order by order_id) as is_complete from next
  ) as marked
  where is_complete
), filled as (
  insert into order_words (account_id, order_id, words)
  select $1::int, order_id, words from complete order by order_id
  on conflict do nothing
)
insert into order_words_marks as m (account_id, filled_to)
select $1::int, max(order_id) from complete having count(*) > 0
on conflict (account_id) do update set filled_to = greatest(m.filled_to, excluded.filled_to)
returning (select count(*)::int from complete) as count`;

/**
 * Creates the search terms (`order_words`) of orders that need review and were written more than a minute ago, account by account in id
 * order, with one transaction per batch. It locks neither accounts nor orders. One worker does it at a time.
 *
 * @param shouldContinue is called after each batch with its duration in milliseconds.
 * @returns the number of orders; 0 means that none is left, or another worker is doing it.
 */
export async function fillSearchTerms(
  database: Database,
  shouldContinue: (ms: number) => Promise<boolean> = async () => true,
): Promise<number> {
  // The lock's transaction writes nothing, so it does not delay vacuum.
  return inTransaction(
    database,
    async (guard) => {
      const [lock] = await run<{ locked: boolean }>(guard, 'select pg_try_advisory_xact_lock($1) as locked', [
        SEARCH_TERMS_LOCK,
      ]);
      if (!lock?.locked) return 0;
      let startedAt = performance.now();
      let filled = 0;
      for (const { account_id } of await run<{ account_id: number }>(guard, FIND_ACCOUNTS)) {
        for (let batch = 0, count = BATCH_SIZE; batch < MAX_BATCHES && count === BATCH_SIZE; batch += 1) {
          count = await fillBatch(database, account_id);
          filled += count;
          if (!(await shouldContinue(performance.now() - startedAt))) return filled;
          startedAt = performance.now();
        }
      }
      return filled;
    },
    // The transaction is idle during the batches and pauses.
    { idle_in_transaction_session_timeout: HOUR_MS },
  );
}

async function fillBatch(database: Database, accountId: number): Promise<number> {
  const [row] = await run<{ count: number }>(database, FILL, [accountId]);
  return row?.count ?? 0;
}
