import type { Database } from '@orders/database/connect.ts';
import { run } from '@orders/database/run.ts';
import { createFairQueue } from '@orders/runtime/concurrency/fair-sharing.ts';
import { Router } from 'express';
import Joi from 'joi';
import { recordRead } from '../audit/record-read.ts';
import { accountIdOf, contextOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { limitPageBytes, queryOf } from '../read-request.ts';
import { markListed } from './find-notes.ts';
import { listSnoozed, removeOldSnoozes } from './find-snoozes.ts';
import { countNeedingReview, listReviewSince } from './list-new-orders.ts';
import { listOpenRequests } from './list-requests.ts';
import { listById, listUpdates } from './list-updates.ts';
import { FILTER, type FilterQuery, orderId, toFilter } from './read-filter.ts';
import { readReviewTarget } from './review-target-routes.ts';

/** A user who looks at an account's list. */
interface Viewer {
  name: string;
  /** The open order; null if it is only the list. */
  order_id: number | null;
}

const MAX_VIEWERS = 50;

/** SQL: how long a user counts as looking at an order after a poll, or after it was given to them. */
export const PRESENT_FOR = "interval '10 seconds'";

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
select u.name, case when p.claimed_at > p.seen_at then p.claimed_id else p.order_id end as order_id
from review_presence p join users u on u.id = p.user_id
where p.account_id = $1::int and p.user_id <> $2::text and greatest(p.seen_at, p.claimed_at) > now() - ${PRESENT_FOR}
order by u.name, u.id limit ${MAX_VIEWERS}`,
};

/** Notes that a user looks at an account's list, and returns the other users who did in the last ten seconds. */
async function seeReviewers(
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
async function removeOldPresence(database: Database, accountId: number): Promise<void> {
  await run(database, REMOVE, [accountId]);
}

const MAX_NEW = 50;
/** The last day of Postgres' calendar is far behind it. */
const MAX_TIME = 8_640_000_000_000;

interface UpdatesQuery extends FilterQuery {
  after: number;
  event_after?: number;
  open?: number;
  /** The page is hidden, so nobody sees the list: the user is no viewer. It does not renew the session either, see `loadSession`. */
  background?: boolean;
}

/** One poll of all that a reviewer's page keeps current. Polls of one user wait for each other, whatever the number of tabs and sessions. */
export function updatesRoutes(deps: PortalDeps): Router {
  const { database, runLong, runShort } = deps;
  const takeTurn = createFairQueue<string>(Number.POSITIVE_INFINITY, 1);
  const router = Router();

  router.get('/orders/updates', recordRead(deps, 'orders'), async (request, response) => {
    const { after, event_after, open, background, similar, ...query } = queryOf<UpdatesQuery>(request, {
      ...FILTER,
      after: orderId.allow(0).required(),
      event_after: Joi.number().integer().min(0).max(MAX_TIME),
      open: orderId,
      background: Joi.boolean(),
    });
    const accountId = accountIdOf(request);
    const userId = personOf(request).userId;
    const presence = { accountId, userId, open: open ?? null };
    const isFirst = event_after === undefined;
    const poll = async () => {
      const { updates, counts, requests, snoozed, viewers, target } = await runShort(request, async () => {
        if (isFirst) {
          await removeOldPresence(database, accountId);
          await removeOldSnoozes(database, accountId);
        }
        return {
          updates: await listUpdates(database, accountId, event_after ?? null),
          counts: await countNeedingReview(database, accountId),
          requests: await listOpenRequests(database, accountId),
          snoozed: await listSnoozed(database, accountId),
          viewers: background ? [] : await seeReviewers(database, presence),
          target: await readReviewTarget(database, accountId),
        };
      });
      // New orders are read after the updates, so that a change of one of them is not lost.
      const { fresh, edited } = await runLong(request, async () => {
        const filter = toFilter(accountId, query);
        const { orders, more } = await listReviewSince(database, filter, { after, limit: MAX_NEW });
        const shown = limitPageBytes(await markListed(database, accountId, orders));
        const matching = similar === 'yes' ? shown.filter((order) => order.similar) : shown;
        // What was not read may concern the open order.
        const unread = updates.more && open !== undefined ? [open] : [];
        const orderIds = [...new Set([...unread, ...updates.editedIds])];
        const changed = { accountId, orderIds, state: query.state, open: open ?? null };
        return {
          fresh: { orders: matching, more: more || shown.length < orders.length },
          edited: await markListed(database, accountId, await listById(database, changed)),
        };
      });
      const fitting = limitPageBytes(edited);
      return {
        new: fresh,
        changed: updates.changed,
        edited: fitting,
        more_changes: updates.more || fitting.length < edited.length,
        event_after: updates.now,
        counts: { needs_review: counts.count, capped: counts.capped, awaiting_payment: counts.hasUnpaid },
        cancellation_requests: requests,
        snoozed,
        viewers,
        review_target_minutes: target,
      };
    };
    response.json(await takeTurn(userId, poll, contextOf(request).closed));
  });

  return router;
}
