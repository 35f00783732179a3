import { type Connection, NEXT_ORDER_LOCK, run } from '@orders/database/run.ts';
import { Router } from 'express';
import { accountIdOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { transactFairly } from '../fair-limiter.ts';
import { bodyOf } from '../read-request.ts';
import { orderId } from './read-filter.ts';
import { SNOOZED } from './review-filter.ts';
import { PRESENT_FOR } from './updates-routes.ts';

export interface NextOrder {
  /** Null if there is none. */
  order_id: number | null;
  /** Whether other people have open all that there are. */
  all_taken: boolean;
}

const NEEDS_REVIEW = `account_id = $1::int and review_state = 'needs_review' and order_id not in (${SNOOZED})`;
/** By the clock and not the start of the transaction, which waited for the lock. */
const RECENT = `clock_timestamp() - ${PRESENT_FOR}`;

/** SQL: the oldest order on one side of an id that nobody else has and the user does not leave. */
const oldest = (side: string) => `
  select order_id from orders
  where ${NEEDS_REVIEW} and order_id ${side}
    and order_id <> all(array(select order_id from taken)) and order_id is distinct from $4::bigint
  order by order_id limit 1`;

const CLAIM = {
  name: 'claim-next-order',
  text: `
with taken as materialized (
  select order_id from review_presence where account_id = $1::int and user_id <> $2::text and order_id is not null and seen_at > ${RECENT}
  union
  select claimed_id from review_presence where account_id = $1::int and user_id <> $2::text and claimed_at > ${RECENT}
), next as materialized (
  select coalesce((${oldest('> $3::bigint')}), (${oldest('<= $3::bigint')})) as order_id
), claim as (
  insert into review_presence (account_id, user_id, seen_at, claimed_id, claimed_at)
  select $1::int, $2::text, now(), order_id, clock_timestamp() from next where order_id is not null
  on conflict (account_id, user_id) do update set claimed_id = excluded.claimed_id, claimed_at = excluded.claimed_at
)
select order_id, order_id is null and exists(
  select from orders where ${NEEDS_REVIEW} and order_id is distinct from $4::bigint
) as all_taken
from next`,
};

/**
 * Gives a reviewer the oldest order that needs review and that nobody else has open. The lock makes two who ask at the same moment choose
 * one after the other.
 *
 * @param from.after goes on after this order, which was passed over; from the oldest one again when there is none after it.
 * @param from.open the order that the reviewer leaves.
 */
export async function claimNext(
  transaction: Connection,
  { accountId, userId }: { accountId: number; userId: string },
  from: { after?: number; open?: number },
): Promise<NextOrder | undefined> {
  await run(transaction, 'select pg_advisory_xact_lock($1::int, $2::int)', [NEXT_ORDER_LOCK, accountId]);
  const values = [accountId, userId, from.after ?? 0, from.open ?? null];
  const [next] = await run<NextOrder>(transaction, CLAIM, values);
  return next;
}

/** `POST /orders/next`: the next order for a reviewer, whatever the filters of the list. */
export function nextOrderRoutes(deps: PortalDeps): Router {
  const transact = transactFairly(deps);
  const router = Router();
  router.post('/orders/next', async (request, response) => {
    const from = bodyOf<{ after?: number; open?: number }>(request, {
      after: orderId.strict(),
      open: orderId.strict(),
    });
    const reviewer = { accountId: accountIdOf(request), userId: personOf(request).userId };
    response.json(await transact(request, (transaction) => claimNext(transaction, reviewer, from)));
  });
  return router;
}
