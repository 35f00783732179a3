import { type Account, selectAccounts } from '@orders/database/accounts/accounts.ts';
import type { Knex } from 'knex';

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
  db: Knex,
  filter: { text?: string | undefined; after?: number | undefined; limit: number },
): Promise<AccountWithCounts[]> {
  const { text = '', after, limit } = filter;
  const query = selectAccounts(db)
    .select(
      db.raw(
        `${counted("orders o where o.account_id = a.account_id and o.review_state = 'needs_review'")} as orders_waiting`,
      ),
      db.raw(`${counted('dead_letters d where d.account_id = a.account_id')} as dead_receipts`),
      db.raw('(select count(*)::int from memberships m where m.account_id = a.account_id) as users'),
    )
    .limit(limit);
  if (after !== undefined) query.where('a.account_id', '>', after);
  if (text !== '') {
    query.where((either) => {
      either.whereRaw('position(lower(?) in lower(a.name)) > 0', [text]);
      if (/^[1-9]\d{0,8}$/.test(text)) either.orWhere('a.account_id', Number(text));
    });
  }
  return query as unknown as Promise<AccountWithCounts[]>;
}
