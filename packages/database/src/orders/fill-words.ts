import type { Knex } from 'knex';
import { SLACK_MS, WORDS } from './review-filter.ts';

/** Any number will do that nothing else in this database locks. */
const WORDS_LOCK = 7_310_444;
const BATCH = 500;
/** Batches of one account before the next one's turn, and accounts before they are looked for again. */
const BATCHES = 10;
const ACCOUNTS = 100;

const SETTLED = `written_at < now() - interval '${SLACK_MS} milliseconds'`;

// One probe of orders_needing_review for each account. In random order, so that none waits for ever behind those that always have some.
const FIND_ACCOUNTS = `
select a.account_id
from accounts a
left join order_words_marks m on m.account_id = a.account_id
cross join lateral (
  select written_at from orders
  where account_id = a.account_id and review_state = 'needs_review' and order_id > coalesce(m.filled_to, 0)
  order by order_id limit 1
) as first
where ${SETTLED}
order by random() limit ${ACCOUNTS}`;

// Up to the first order behind which one may still come that took its id before. Where there are words already, somebody has edited or
// reopened the order, and those are newer than what this statement sees.
const FILL = `
with next as materialized (
  select order_id, written_at, ${WORDS} as words from orders
  where account_id = :accountId and review_state = 'needs_review'
    and order_id > coalesce((select filled_to from order_words_marks where account_id = :accountId), 0)
  order by order_id limit ${BATCH}
), settled as materialized (
  select order_id, words from (
    select *, bool_and(${SETTLED}) over (order by order_id) as is_settled from next
  ) as weighed
  where is_settled
), filled as (
  insert into order_words (account_id, order_id, words)
  select :accountId, order_id, words from settled order by order_id
  on conflict do nothing
)
insert into order_words_marks as m (account_id, filled_to)
select :accountId, max(order_id) from settled having count(*) > 0
on conflict (account_id) do update set filled_to = greatest(m.filled_to, excluded.filled_to)
returning (select count(*)::int from settled) as count`;

/**
 * Makes the words of orders that need review and were written more than a minute ago, account by account in the order of their ids, in
 * batches each of which is a transaction. It locks neither accounts nor orders. Of several workers one does it at a time.
 *
 * @param goesOn is asked after each batch, told how many milliseconds that took.
 * @returns of how many orders; after 0 there is nothing left to do, or somebody else is at it.
 */
export async function fillWords(
  knex: Knex,
  goesOn: (ms: number) => Promise<boolean> = async () => true,
): Promise<number> {
  // The lock is held by a transaction that writes nothing: it holds back neither vacuum nor dispatchable_orders.
  return knex.transaction(async (guard) => {
    // It is idle while others work, and while they rest.
    await guard.raw("set local idle_in_transaction_session_timeout = '1h'");
    const { rows } = await guard.raw('select pg_try_advisory_xact_lock(?) as locked', [WORDS_LOCK]);
    if (!rows[0].locked) return 0;
    let startedAt = performance.now();
    let filled = 0;
    const found = await guard.raw<{ rows: { account_id: number }[] }>(FIND_ACCOUNTS);
    for (const { account_id: accountId } of found.rows) {
      for (let batch = 0, count = BATCH; batch < BATCHES && count === BATCH; batch += 1) {
        count = await fillBatch(knex, accountId);
        filled += count;
        if (!(await goesOn(performance.now() - startedAt))) return filled;
        startedAt = performance.now();
      }
    }
    return filled;
  });
}

async function fillBatch(knex: Knex, accountId: number): Promise<number> {
  const { rows } = await knex.raw<{ rows: { count: number }[] }>(FILL, { accountId });
  return rows[0]?.count ?? 0;
}
