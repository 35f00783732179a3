import { setTimeout as sleep } from 'node:timers/promises';
import { openKnex } from '@orders/test-services/open-knex.ts';
import pg from 'pg';
import { waitUntil } from './wait-until.ts';

/** The first appearance of an order in `dispatchable_orders`. */
export interface Dispatched {
  orderId: number;
  xid: string;
  times: number;
}

/** A position in one of the views. */
interface Cursor {
  xid: string;
  orderId: number;
}

const POLL_INTERVAL_MS = 100;
const PAGE_SIZE = 1000;
const TIMEOUT_MS = 2000;
/** The undo time of `dispatchable_orders`. */
const UNDO_MS = 10_000;

const FOLLOW = `
select order_id, confirmed_xid::text as xid, confirmed_at, clock_timestamp() as seen_at from dispatchable_orders
where (confirmed_xid, order_id) > ($1::text::xid8, $2::bigint) order by confirmed_xid, order_id limit $3`;

const FOLLOW_REQUESTS = `
select order_id, request_xid::text as xid from dispatch_cancellations
where (request_xid, order_id) > ($1::text::xid8, $2::bigint) order by request_xid, order_id limit 1000`;

/** What the dispatching system has read. */
export type Dispatcher = ReturnType<typeof startDispatcher>;

/** Simulates a dispatching system that reads `dispatchable_orders` and `dispatch_cancellations`, each with a cursor. */
export function startDispatcher(url: string) {
  // The timeout ends statements that wait for a lock. Otherwise the only connection would wait for the end of the fault.
  const knex = openKnex({ url, poolSize: 1, prepared: true, queryTimeout: TIMEOUT_MS });
  const seen = new Map<number, Dispatched>();
  const readRequests = new Map<number, { isBeforeOrder: boolean }>();
  let cursor: Cursor = { xid: '0', orderId: 0 };
  let requestCursor = cursor;
  let [measuresFrom, longest] = [Date.now(), Number.NaN];
  let isFollowing = true;

  async function follow(client: pg.Client): Promise<void> {
    const { rows: requests } = await client.query(FOLLOW_REQUESTS, [requestCursor.xid, requestCursor.orderId]);
    // Read afterwards, they include the orders of all these requests.
    while (await followOrders(client));
    for (const row of requests) {
      const orderId = Number(row.order_id);
      readRequests.set(orderId, { isBeforeOrder: !seen.has(orderId) });
      requestCursor = { xid: row.xid, orderId };
    }
  }

  /** @returns whether more can follow. */
  async function followOrders(client: pg.Client): Promise<boolean> {
    const { rows } = await client.query(FOLLOW, [cursor.xid, cursor.orderId, PAGE_SIZE]);
    for (const row of rows) {
      const orderId = Number(row.order_id);
      const known = seen.get(orderId);
      seen.set(orderId, { orderId, xid: known?.xid ?? row.xid, times: (known?.times ?? 0) + 1 });
      cursor = { xid: row.xid, orderId };
      const due = row.confirmed_at.getTime() + UNDO_MS;
      if (due < measuresFrom) continue;
      const delay = (row.seen_at.getTime() - due) / 1000;
      longest = Number.isNaN(longest) ? delay : Math.max(longest, delay);
    }
    return rows.length === PAGE_SIZE;
  }

  // Postgres may be down at any time. The loop continues when it is back.
  async function following(): Promise<void> {
    while (isFollowing) {
      const client = new pg.Client({
        connectionString: url,
        query_timeout: TIMEOUT_MS,
        connectionTimeoutMillis: TIMEOUT_MS,
      });
      client.on('error', () => {});
      try {
        await client.connect();
        for (; isFollowing; await sleep(POLL_INTERVAL_MS)) await follow(client);
      } catch {
        await sleep(POLL_INTERVAL_MS);
      } finally {
        await client.end().catch(() => {});
      }
    }
  }

  async function isAllShown(): Promise<boolean> {
    const left = await knex('orders')
      .where({ review_state: 'confirmed' })
      .whereRaw('(confirmed_xid, order_id) > (?::text::xid8, ?::bigint)', [cursor.xid, cursor.orderId])
      .first('order_id');
    const leftRequest = await knex('cancellation_requests')
      .whereRaw('(request_xid, order_id) > (?::text::xid8, ?::bigint)', [requestCursor.xid, requestCursor.orderId])
      .first('order_id');
    return left === undefined && leftRequest === undefined;
  }

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
    /** Waits until all confirmed orders and all requests appear or the deadline passes. */
    untilShown: (deadline: number) => waitUntil(() => isAllShown().catch(() => false), deadline),
    async stop() {
      isFollowing = false;
      await work;
      await knex.destroy();
    },
  };
}
