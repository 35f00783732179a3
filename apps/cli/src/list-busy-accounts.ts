import { type Account, selectAccounts } from '@orders/database/accounts/accounts.ts';
import type { Knex } from 'knex';

/** An account with the counts of its recent receipts by outcome so far. */
export interface BusyAccount extends Account {
  accepted: number;
  duplicate: number;
  dead: number;
}

/** Read by key per account, as the activity of all accounts and times is much larger. */
const RECENT = `
cross join lateral (
  select sum(accepted)::bigint as accepted, sum(duplicate)::bigint as duplicate, sum(dead)::bigint as dead
  from activity where account_id = a.account_id and bucket_start > now() - ? * interval '1 ms'
) as recent`;

/**
 * The accounts with the most recent receipts, most first. Counts are by buckets of five minutes, and receipts of the last minute may be
 * missing.
 *
 * @param withinMs how far back, in milliseconds; the bucket that contains this time is excluded.
 */
export async function listBusyAccounts(
  db: Knex,
  { withinMs, limit }: { withinMs: number; limit: number },
): Promise<BusyAccount[]> {
  return selectAccounts(db)
    .joinRaw(RECENT, [withinMs])
    .select('recent.accepted', 'recent.duplicate', 'recent.dead')
    .where('recent.accepted', '>', 0)
    .clearOrder()
    .orderBy([{ column: 'recent.accepted', order: 'desc' }, 'a.account_id'])
    .limit(limit) as unknown as Promise<BusyAccount[]>;
}
