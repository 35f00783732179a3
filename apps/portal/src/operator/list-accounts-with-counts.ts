import { ACCOUNT_COLUMNS, type Account } from '@orders/database/accounts/accounts.ts';
import { type Connection, run } from '@orders/database/run.ts';

/** Counts stop above this number. */
export const COUNTED_TO = 1000;

/** An account with counts for operators; `COUNTED_TO + 1` means more than `COUNTED_TO`. */
export interface AccountWithCounts extends Account {
  orders_waiting: number;
  dead_receipts: number;
  users: number;
}

const counted = (from: string) =>
  `(select count(*)::int from (select from ${from} limit ${COUNTED_TO + 1}) as counted)`;

/**
 * Up to `limit` accounts by id, after the id `after` if given.
 *
 * @param filter.text a substring of the name, case-insensitive, or an id.
 */
export async function listAccountsWithCounts(
  connection: Connection,
  { text = '', after, limit }: { text?: string | undefined; after?: number | undefined; limit: number },
): Promise<AccountWithCounts[]> {
  return run<AccountWithCounts>(
    connection,
    `select ${ACCOUNT_COLUMNS},
            ${counted("orders o where o.account_id = a.account_id and o.review_state = 'needs_review'")} as orders_waiting,
            ${counted('dead_letters d where d.account_id = a.account_id')} as dead_receipts,
            (select count(*)::int from memberships m where m.account_id = a.account_id) as users
     from accounts a
     where ($1::int is null or a.account_id > $1)
       and ($2 = '' or position(lower($2) in lower(a.name)) > 0 or a.account_id = $3::int)
     order by a.account_id limit $4`,
    [after, text, /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null, limit],
  );
}
