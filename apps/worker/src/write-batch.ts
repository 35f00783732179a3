import { type Database, faultOf, run, writeOrders } from '@orders/database';
import type { Logger } from '@orders/runtime';
import type { FailAttempt } from './fail-attempt.ts';
import type { Lease } from './lease.ts';
import type { WorkerMetrics } from './metrics.ts';
import type { Writable } from './normalize-claimed.ts';

/**
 * Writes the orders of one lease. Those that cannot be written end `failed` or `dead`, alone.
 *
 * @returns how many receipts were moved, if one statement did for all of them; else 0.
 * @throws when infrastructure fails.
 */
export type WriteBatch = (lease: Lease, orders: readonly Writable[]) => Promise<number>;

export function createWriteBatch(deps: {
  database: Database;
  failAttempt: FailAttempt;
  metrics: WorkerMetrics;
  logger: Logger;
}): WriteBatch {
  const { database, failAttempt, metrics, logger } = deps;

  return async function writeBatch(lease, orders) {
    if (orders.length === 0) return 0;
    try {
      const written = await writeOrders(database, lease.id, lease.ring, orders);
      metrics.batchSizes.observe(written.length);
      for (const { receiptId, state, orderId } of written) {
        metrics.outcomes.inc({ outcome: state });
        logger.debug(`receipt ${state}`, { receipt_id: receiptId, order_id: orderId });
      }
      return written.length;
    } catch (error) {
      const fault = faultOf(error);
      if (fault === 'infrastructure') throw error;
      const [only, ...others] = orders as [Writable, ...Writable[]];
      if (others.length > 0) {
        // One of them is at fault: by halves the others are written in a few statements more.
        const middle = Math.ceil(orders.length / 2);
        await writeBatch(lease, orders.slice(0, middle));
        await writeBatch(lease, orders.slice(middle));
        return 0;
      }
      if (fault === 'unknown') await expectAnswer(database);
      await failAttempt(lease, only, error);
      return 0;
    }
  };
}

/** An error that says nothing of its cause counts against a receipt only while Postgres otherwise answers. */
async function expectAnswer(database: Database): Promise<void> {
  await run(database, { name: 'ping', text: 'select 1' }, []);
}
