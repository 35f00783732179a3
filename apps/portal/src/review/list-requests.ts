import { orderRow } from '@orders/database/orders/order-rows.ts';
import { type Connection, run } from '@orders/database/run.ts';

/** A request to cancel an order that dispatching has seen: a task until a person closes it. */
export interface CancellationRequest {
  requested_at: Date;
  /** The sender, as `key:` and the name of the API key or `source:` and that of the source, or a reviewer's e-mail address. */
  requested_by: string;
  reason: string | null;
  closed_at: Date | null;
  /** The e-mail address of the person who closed it. */
  closed_by: string | null;
  /** When the order was ordered again after the request; null if it was not. */
  ordered_again_at: Date | null;
}

/** An open request with what identifies its order. */
export type OpenRequest = Pick<CancellationRequest, 'requested_at' | 'requested_by' | 'reason' | 'ordered_again_at'> & {
  order_id: number;
  order_number: string;
  customer_name: string | null;
  customer_phone: string | null;
};

/** The open requests of an account. */
export interface OpenRequests {
  /** At most 1,000. */
  count: number;
  /** Whether there are more. */
  capped: boolean;
  /** The first 20, oldest first. */
  orders: OpenRequest[];
}

const MAX_COUNTED = 1000;
const MAX_LISTED = 20;

// In an order that only the index of open requests by account has, for the reason of `eventsOfAccount`.
const OPEN = `cancellation_requests
  where (account_id, requested_at) >= ($1::int, '-infinity') and (account_id, requested_at) <= ($1::int, 'infinity')
    and closed_at is null
  order by account_id, requested_at`;

const COUNT = {
  name: 'count-open-cancellation-requests',
  text: `select count(*) as count from (select from ${OPEN} limit $2::int) as counted`,
};

const LIST = {
  name: 'list-open-cancellation-requests',
  text: `
select r.order_id, o.order_number, o.customer_name, o.customer_phone, r.requested_at, r.requested_by, r.reason, r.ordered_again_at
from (select * from ${OPEN} limit $2::int) as r
cross join lateral (${orderRow('$1::int', 'r.order_id')}) as o
order by r.requested_at, r.order_id`,
};

/** How many open requests an account has; the count stops at 1,000. */
export async function countOpenRequests(
  database: Connection,
  accountId: number,
): Promise<Pick<OpenRequests, 'count' | 'capped'>> {
  const [row] = await run<{ count: number }>(database, COUNT, [accountId, MAX_COUNTED + 1]);
  const count = row?.count ?? 0;
  return { count: Math.min(count, MAX_COUNTED), capped: count > MAX_COUNTED };
}

/** The oldest open requests of an account, and how many there are. */
export async function listOpenRequests(database: Connection, accountId: number): Promise<OpenRequests> {
  const orders = await run<OpenRequest>(database, LIST, [accountId, MAX_LISTED]);
  if (orders.length < MAX_LISTED) return { count: orders.length, capped: false, orders };
  return { ...(await countOpenRequests(database, accountId)), orders };
}

const FIND = {
  name: 'find-cancellation-request',
  text: `
select requested_at, requested_by, reason, closed_at, closed_by, ordered_again_at
from cancellation_requests where account_id = $1::int and order_id = $2::bigint`,
};

/** The request to cancel an order, open or closed; null if there is none. */
export async function findCancellationRequest(
  database: Connection,
  accountId: number,
  orderId: number,
): Promise<CancellationRequest | null> {
  const [request] = await run<CancellationRequest>(database, FIND, [accountId, orderId]);
  return request ?? null;
}
