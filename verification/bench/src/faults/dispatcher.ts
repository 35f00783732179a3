import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Finding } from './findings.ts';
import { type Patience, waitUntil } from './wait-until.ts';

/** The first appearance of an order in `dispatchable_orders`. */
export interface Dispatched {
  orderId: number;
  position: number;
  times: number;
}

const POLL_INTERVAL_MS = 100;
const PAGE_SIZE = 1000;
const TIMEOUT_MS = 2000;
/** The undo time of `dispatchable_orders`. */
const UNDO_MS = 10_000;

const FOLLOW = `
select order_id, position, confirmed_at, clock_timestamp() as seen_at from dispatchable_orders
where position > $1::bigint order by position limit $2`;

const FOLLOW_REQUESTS = `
select order_id, position from dispatch_cancellations where position > $1::bigint order by position limit 1000`;

/** Confirmed orders and requests that were not read. */
const UNREAD = `
select 'not-dispatched' as name, order_id::text as id, 'due ' || due_at as detail from undispatched_orders
union all
select 'not-dispatched', order_id::text, 'at ' || position from dispatchable_orders where position > $1::bigint
union all
select 'request-not-shown', order_id::text, concat_ws(' ', position, requested_at) from cancellation_requests
where position is null or position > $2::bigint`;

/** What the dispatching system has read. */
export type Dispatcher = ReturnType<typeof startDispatcher>;

/** Simulates a dispatching system that reads `dispatchable_orders` and `dispatch_cancellations`, each with a cursor. */
export function startDispatcher(url: string) {
  // The timeout ends statements that wait for a lock. Otherwise they would wait for the end of the fault.
  const pool = new pg.Pool({
    connectionString: url,
    query_timeout: TIMEOUT_MS,
    connectionTimeoutMillis: TIMEOUT_MS,
    max: 2,
  });
  pool.on('error', () => {});
  const seen = new Map<number, Dispatched>();
  const readRequests = new Map<number, { isBeforeOrder: boolean }>();
  let [cursor, requestCursor] = [0, 0];
  let [measuresFrom, longest] = [Date.now(), Number.NaN];
  let isFollowing = true;

  async function follow(): Promise<void> {
    const { rows: requests } = await pool.query(FOLLOW_REQUESTS, [requestCursor]);
    // Read afterwards, they include the orders of all these requests.
    while (await followOrders());
    for (const row of requests) {
      const orderId = Number(row.order_id);
      readRequests.set(orderId, { isBeforeOrder: !seen.has(orderId) });
      requestCursor = Number(row.position);
    }
  }

  /** @returns whether more can follow. */
  async function followOrders(): Promise<boolean> {
    const { rows } = await pool.query(FOLLOW, [cursor, PAGE_SIZE]);
    for (const row of rows) {
      const orderId = Number(row.order_id);
      const known = seen.get(orderId);
      cursor = Number(row.position);
      seen.set(orderId, { orderId, position: known?.position ?? cursor, times: (known?.times ?? 0) + 1 });
      const due = row.confirmed_at.getTime() + UNDO_MS;
      if (due < measuresFrom) continue;
      const delay = (row.seen_at.getTime() - due) / 1000;
      longest = Number.isNaN(longest) ? delay : Math.max(longest, delay);
    }
    return rows.length === PAGE_SIZE;
  }

  // Postgres may be down at any time. The loop continues when it is back.
  async function following(): Promise<void> {
    for (; isFollowing; await sleep(POLL_INTERVAL_MS)) await follow().catch(() => {});
  }

  const findUnread = async () => (await pool.query<Finding>(UNREAD, [cursor, requestCursor])).rows;

  const work = following();
  return {
    /** All orders seen so far. */
    seen: seen as ReadonlyMap<number, Dispatched>,
    /** No order may appear later at or before this position. */
    get cursor() {
      return cursor;
    },
    /** All requests for cancellation read so far, by order id. */
    readRequests: readRequests as ReadonlyMap<number, { isBeforeOrder: boolean }>,
    /** No request may appear later at or before this position. */
    get requestCursor() {
      return requestCursor;
    },
    /** Starts a new measurement of delays. */
    startRound(): void {
      [measuresFrom, longest] = [Date.now(), Number.NaN];
    },
    /** The longest delay of a due order since `startRound`, in seconds; NaN if none was due. */
    longestDelay: () => longest,
    /** Waits until all confirmed orders and all requests appear or the patience ends. */
    untilShown: (patience: Patience) =>
      waitUntil(
        () =>
          findUnread().then(
            ({ length }) => length === 0,
            () => false,
          ),
        patience,
      ),
    findUnread,
    async stop() {
      isFollowing = false;
      await work;
      await pool.end();
    },
  };
}
