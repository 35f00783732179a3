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

/** Forgets the words of orders that need no review any more. */
export async function dropWords(trx: Knex.Transaction, accountId: number, orderIds: readonly number[]): Promise<void> {
  await trx('order_words').where({ account_id: accountId }).whereIn('order_id', orderIds).delete();
}
