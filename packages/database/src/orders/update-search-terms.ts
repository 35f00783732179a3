import type { Knex } from 'knex';
import { SEARCH_TERMS } from './review-filter.ts';

/** Must be called in the transaction that changes the orders, so that search terms are never older than their order. */
export async function updateSearchTerms(
  trx: Knex.Transaction,
  accountId: number,
  orderIds: readonly number[],
): Promise<void> {
  // In id order, as in fillSearchTerms, so that they do not deadlock.
  await trx.raw(
    `insert into order_words (account_id, order_id, words)
     select account_id, order_id, ${SEARCH_TERMS} from orders
     where account_id = ? and order_id = any(?::bigint[]) order by order_id
     on conflict (account_id, order_id) do update set words = excluded.words`,
    [accountId, [...orderIds]],
  );
}

/**
 * Deletes the search terms of orders that no longer need review. Terms of erased orders stay, as they contain no customer data: if they
 * were deleted, a fillSearchTerms that began before the erasure could insert the old ones.
 */
export async function deleteSearchTerms(
  trx: Knex.Transaction,
  accountId: number,
  orderIds: readonly number[],
): Promise<void> {
  await trx('order_words as w')
    .where({ account_id: accountId })
    .whereIn('order_id', orderIds)
    .whereRaw(
      `not exists (select from orders o where o.account_id = w.account_id and o.order_id = w.order_id and o.erased_at is not null)`,
    )
    .delete();
}
