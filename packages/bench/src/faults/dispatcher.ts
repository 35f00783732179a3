import { setTimeout as sleep } from 'node:timers/promises';
import { openKnex, reviewOrders } from '@orders/database';
import pg from 'pg';
import type { Sender } from './ledger.ts';
import { pick, type Random } from './random.ts';

/** An order as `dispatchable_orders` showed it first. */
export interface Dispatched {
  orderId: number;
  xid: string;
  times: number;
}

/** Reviewers who confirm some of the orders, and the dispatching system, which follows `dispatchable_orders` by its cursor. */
export interface Dispatcher {
  /** What was shown so far. */
  readonly seen: ReadonlyMap<number, Dispatched>;
  /** The position behind which nothing may appear any more. */
  readonly cursor: { xid: string; orderId: number };
  /** Measures delays from now on. */
  startRound(): void;
  /** The longest that an order was shown after it was due, in seconds, since then; NaN where none was due. */
  longestDelay(): number;
  /** Confirms no more, and waits until all that was confirmed is shown, or it is too late. */
  untilShown(deadline: number): Promise<void>;
  stop(): Promise<void>;
}

const CONFIRM_EVERY_MS = 250;
const CONFIRMED_TOGETHER = 5;
const POLL_EVERY_MS = 100;
const TIMEOUT_MS = 2000;
/** The undo time of `dispatchable_orders`. */
const UNDO_MS = 10_000;

const FOLLOW = `
select order_id, confirmed_xid::text as xid, confirmed_at, clock_timestamp() as seen_at from dispatchable_orders
where (confirmed_xid, order_id) > ($1::text::xid8, $2::bigint) order by confirmed_xid, order_id limit 1000`;

/** @param options `random` decides which orders are confirmed. */
export function startDispatcher(options: { url: string; senders: readonly Sender[]; random: Random }): Dispatcher {
  const { url, senders, random } = options;
  // Postgres ends a statement that waits for a lock: without that, the one connection would wait as long as the fault lasts.
  const knex = openKnex({ url, poolSize: 1, prepared: true, queryTimeout: TIMEOUT_MS });
  const seen = new Map<number, Dispatched>();
  let cursor = { xid: '0', orderId: 0 };
  let [measuresFrom, longest] = [Date.now(), Number.NaN];
  let [isConfirming, isFollowing] = [true, true];

  async function confirmSome(): Promise<void> {
    const { accountId } = pick(random, senders);
    const orderIds = await knex('orders')
      .where({ account_id: accountId, review_state: 'needs_review' })
      .orderBy('order_id', 'desc')
      .limit(CONFIRMED_TOGETHER)
      .forUpdate()
      .skipLocked()
      .pluck('order_id');
    await reviewOrders(knex, { accountId, orderIds: orderIds.map(Number), to: 'confirmed', by: 'faults@reviewers' });
  }

  async function follow(client: pg.Client): Promise<void> {
    const { rows } = await client.query(FOLLOW, [cursor.xid, cursor.orderId]);
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
  }

  // Postgres may be down at any moment; both go on when it is back.
  async function confirming(): Promise<void> {
    for (; isConfirming; await sleep(CONFIRM_EVERY_MS)) await confirmSome().catch(() => {});
  }

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
        for (; isFollowing; await sleep(POLL_EVERY_MS)) await follow(client);
      } catch {
        await sleep(POLL_EVERY_MS);
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
    return left === undefined;
  }

  const work = [confirming(), following()] as const;
  return {
    seen,
    get cursor() {
      return cursor;
    },
    startRound() {
      [measuresFrom, longest] = [Date.now(), Number.NaN];
    },
    longestDelay: () => longest,
    async untilShown(deadline) {
      isConfirming = false;
      await work[0];
      while (!(await isAllShown().catch(() => false)) && Date.now() < deadline) await sleep(POLL_EVERY_MS);
    },
    async stop() {
      isConfirming = isFollowing = false;
      await Promise.all(work);
      await knex.destroy();
    },
  };
}
