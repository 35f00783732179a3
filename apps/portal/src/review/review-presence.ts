import type { Database } from '@orders/database/connect.ts';
import { run } from '@orders/database/run.ts';

/** A user who looks at an account's list. */
export interface Viewer {
  name: string;
  /** The open order; null if it is only the list. */
  order_id: number | null;
}

const MAX_VIEWERS = 50;

const SEE = {
  name: 'see-reviewers',
  // Without a change, a row is written only every few seconds. Read before the write, so that a poll mostly locks nothing.
  text: `
with seen as (
  insert into review_presence (account_id, user_id, order_id, seen_at)
  select $1::int, $2::text, $3::bigint, now()
  where not exists (
    select from review_presence
    where account_id = $1::int and user_id = $2::text and order_id is not distinct from $3::bigint and seen_at > now() - interval '4 seconds'
  )
  on conflict (account_id, user_id) do update set order_id = excluded.order_id, seen_at = excluded.seen_at
)
select u.name, p.order_id from review_presence p join users u on u.id = p.user_id
where p.account_id = $1::int and p.user_id <> $2::text and p.seen_at > now() - interval '10 seconds'
order by u.name, u.id limit ${MAX_VIEWERS}`,
};

/** Notes that a user looks at an account's list, and returns the other users who did in the last ten seconds. */
export async function seeReviewers(
  database: Database,
  { accountId, userId, open }: { accountId: number; userId: string; open: number | null },
): Promise<Viewer[]> {
  return run<Viewer>(database, SEE, [accountId, userId, open]);
}

const REMOVE = {
  name: 'remove-old-presence',
  text: "delete from review_presence where account_id = $1::int and seen_at < now() - interval '1 hour'",
};

/** Removes rows of users who left an account's list long ago. */
export async function removeOldPresence(database: Database, accountId: number): Promise<void> {
  await run(database, REMOVE, [accountId]);
}
