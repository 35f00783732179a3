import type { Database } from '@orders/database/connect.ts';
import { SQLSTATE, sqlstateOf } from '@orders/database/database-errors.ts';
import { run, type Statement } from '@orders/database/run.ts';
import type { Cancellation, PlatformCancellationOutcome } from '@orders/domain/cancellations.ts';

export interface CancelRequest {
  accountId: number;
  /**
   * The API key or the source that cancels; its name is stored as who did it. A source cancels one order, with the time at which its
   * platform changed it, if it says so.
   */
  by: { keyId: number } | { sourceNumber: number; modifiedAt: Date | null };
  cancellations: readonly Cancellation[];
}

export interface Cancelled {
  outcome: PlatformCancellationOutcome;
  /** Null if it is held. */
  orderId: number | null;
}

/** One of the orders is being changed by others for too long; nothing was cancelled. */
export class OrdersBusy extends Error {
  override readonly name = 'OrdersBusy';
}

const CANCEL = {
  name: 'cancel-orders',
  text: 'select * from cancel_orders($1::int, $2::bigint, $3::int, $4::text[], $5::text[])',
};

const CANCEL_OF_SOURCE = {
  name: 'cancel-order-of-source',
  text: 'select * from cancel_order_of_source($1::int, $2::int, $3::text, $4::timestamptz)',
};

interface Row extends Cancelled {
  /** The index in the request, from 1. */
  ordinal: number;
  orderId: number;
}

const HELD: Cancelled = { outcome: 'held', orderId: null };

const MAX_TRIES = 4;

/**
 * Cancels an account's orders in one transaction, under their locks, with audit (function `cancel_orders`). Repeating it
 * returns the same outcomes.
 *
 * - `cancelled`: an order that needs review, is rejected, or was confirmed and not yet dispatched.
 * - `requested`: an order that dispatching can have seen; it is in `cancellation_requests`.
 * - `held`: there is no such order. Its key holds the cancellation, so the worker finds it, whenever it writes the order, with
 *   `writeCancelled`.
 * - `outdated`: the platform has changed the order since; nothing was cancelled.
 *
 * @returns by `source_order_id`. Of a repeated id, the first reason counts.
 * @throws {OrdersBusy} if an order stays locked for half a second; {pg.DatabaseError} or the connection's error. Then nothing was
 *   cancelled, unless the connection was lost during the commit.
 */
export async function cancelOrders(database: Database, request: CancelRequest): Promise<Map<string, Cancelled>> {
  const { accountId, by, cancellations } = request;
  const reasons = new Map(cancellations.toReversed().map(({ sourceOrderId, reason }) => [sourceOrderId, reason]));
  const ids = [...reasons.keys()];
  const rows =
    'keyId' in by
      ? await cancel(database, CANCEL, [accountId, by.keyId, null, ids, [...reasons.values()]])
      : await cancel(database, CANCEL_OF_SOURCE, [accountId, by.sourceNumber, ids[0], by.modifiedAt]);
  const found = new Map(rows.map(({ ordinal, outcome, orderId }) => [ordinal, { outcome, orderId }]));
  return new Map(ids.map((id, index) => [id, found.get(index + 1) ?? HELD]));
}

async function cancel(database: Database, statement: Statement, values: unknown[]): Promise<Row[]> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run<Row>(database, statement, values);
    } catch (error) {
      const sqlstate = sqlstateOf(error);
      if (sqlstate === SQLSTATE.lockNotAvailable) throw new OrdersBusy();
      // The order was written while it was cancelled.
      if (sqlstate !== SQLSTATE.serializationFailure) throw error;
      if (tries === MAX_TRIES) throw new OrdersBusy();
    }
  }
}
