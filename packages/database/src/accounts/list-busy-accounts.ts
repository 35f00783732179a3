import type { Knex } from 'knex';
import { type Account, selectAccounts } from './accounts.ts';

/** An account with what came from it lately, and what became of that so far. */
export interface BusyAccount extends Account {
  accepted: number;
  duplicate: number;
  dead: number;
}

/** Read for each account by its key: activity of all accounts and times is far more. */
const LATELY = `
cross join lateral (
  select sum(accepted)::bigint as accepted, sum(duplicate)::bigint as duplicate, sum(dead)::bigint as dead
  from activity where account_id = a.account_id and bucket_start > now() - ? * interval '1 ms'
) as lately`;

/**
 * The accounts that most receipts came from, those with most first. What came in within the last minute may not be counted yet, and
 * counting is by five minutes.
 *
 * @param withinMs how far back, in milliseconds; the five minutes that this falls into are left out.
 */
export async function listBusyAccounts(
  db: Knex,
  { withinMs, limit }: { withinMs: number; limit: number },
): Promise<BusyAccount[]> {
  return selectAccounts(db)
    .joinRaw(LATELY, [withinMs])
    .select('lately.accepted', 'lately.duplicate', 'lately.dead')
    .where('lately.accepted', '>', 0)
    .clearOrder()
    .orderBy([{ column: 'lately.accepted', order: 'desc' }, 'a.account_id'])
    .limit(limit) as unknown as Promise<BusyAccount[]>;
}
