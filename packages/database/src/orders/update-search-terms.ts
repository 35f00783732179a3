import { type Connection, execute } from '../run.ts';

/** Orders that are written concurrently can have a lower id and a later `written_at`, by at most this time. */
export const SLACK_MS = 60_000;

/** SQL: the search terms of an order. */
export const SEARCH_TERMS = `order_words(account_id, source_order_id, order_number, customer_name, customer_phone, customer_email, customer_id, address, area, items,
  channel, emirate_code, severity, source_number, payment_state, delivery_method, is_test)`;

/** Must be called in the transaction that changes the orders, so that search terms are never older than their order. */
export async function updateSearchTerms(
  connection: Connection,
  accountId: number,
  orderIds: readonly number[],
): Promise<void> {
  // In id order, as in fillSearchTerms, so that they do not deadlock.
  await execute(
    connection,
    `insert into order_words (account_id, order_id, words)
     select account_id, order_id, ${SEARCH_TERMS} from orders
     where account_id = $1 and order_id = any($2::bigint[]) order by order_id
     on conflict (account_id, order_id) do update set words = excluded.words`,
    [accountId, orderIds],
  );
}

/**
 * Deletes the search terms of orders that no longer need review. Terms of erased orders stay, as they contain no customer data: if they
 * were deleted, a fillSearchTerms that began before the erasure could insert the old ones.
 */
export async function deleteSearchTerms(
  connection: Connection,
  accountId: number,
  orderIds: readonly number[],
): Promise<void> {
  await execute(
    connection,
    `with others as materialized (
       select order_id from orders where account_id = $1 and order_id = any($2::bigint[]) and erased_at is null
     )
     delete from order_words w using others where w.account_id = $1 and w.order_id = others.order_id`,
    [accountId, orderIds],
  );
}
