import type { Knex } from 'knex';
import { WORDS } from './review-filter.ts';

/** Makes the words of orders that need review again, in the transaction that changed them, so that words are never older than their order. */
export async function keepWords(trx: Knex.Transaction, accountId: number, orderIds: readonly number[]): Promise<void> {
  // In the order of the ids, as fillWords does: who meets it waits, and neither deadlocks.
  await trx.raw(
    `insert into order_words (account_id, order_id, words)
     select account_id, order_id, ${WORDS} from orders
     where account_id = ? and order_id = any(?::bigint[]) order by order_id
     on conflict (account_id, order_id) do update set words = excluded.words`,
    [accountId, [...orderIds]],
  );
}

/**
 * Forgets the words of orders that need no review any more. Those of erased orders stay, which say nothing of a customer: in their place
 * fillWords, which may be at it since before the erasure, could put the old ones.
 */
export async function dropWords(trx: Knex.Transaction, accountId: number, orderIds: readonly number[]): Promise<void> {
  await trx('order_words as w')
    .where({ account_id: accountId })
    .whereIn('order_id', orderIds)
    .whereRaw(
      `not exists (select from orders o where o.account_id = w.account_id and o.order_id = w.order_id and o.erased_at is not null)`,
    )
    .delete();
}
