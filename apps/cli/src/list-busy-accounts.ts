import { ACCOUNT_COLUMNS, type Account } from '@orders/database/accounts/accounts.ts';
import { type Connection, run } from '@orders/database/run.ts';

/** An account with the counts of its recent receipts by outcome so far. */
export interface BusyAccount extends Account {
  accepted: number;
  duplicate: number;
  dead: number;
}

/**
 * The accounts with the most recent receipts, most first. Counts are by buckets of five minutes, and receipts of the last minute may be
 * missing.
 *
 * @param withinMs how far back, in milliseconds; the bucket that contains this time is excluded.
 */
export async function listBusyAccounts(
  connection: Connection,
  { withinMs, limit }: { withinMs: number; limit: number },
): Promise<BusyAccount[]> {
  return run<BusyAccount>(
    connection,
    // By key per account, as the activity of all accounts and times is much larger.
    `select ${ACCOUNT_COLUMNS}, recent.accepted, recent.duplicate, recent.dead
     from accounts a
     cross join lateral (
       select sum(accepted)::bigint as accepted, sum(duplicate)::bigint as duplicate, sum(dead)::bigint as dead
       from activity where account_id = a.account_id and bucket_start > now() - $1 * interval '1 ms'
     ) as recent
     where recent.accepted > 0 order by recent.accepted desc, a.account_id limit $2`,
    [withinMs, limit],
  );
}
