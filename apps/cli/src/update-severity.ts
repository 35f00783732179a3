import type { Database } from '@orders/database/connect.ts';
import { type OrderRow, toJson, toOrder } from '@orders/database/orders/order-rows.ts';
import { updateSearchTerms } from '@orders/database/orders/update-search-terms.ts';
import { type Connection, execute, inTransaction, run } from '@orders/database/run.ts';
import { type Severity, severityOf } from '@orders/domain/severity.ts';
import { readOrderRows } from './list-orders.ts';

type Rated = OrderRow & { severity: Severity };

const LOCK = `
select * from orders where account_id = $1 and order_id = any($2::bigint[]) order by order_id for update`;

const UPDATE = `
update orders o set severity = i.severity
from unnest($2::bigint[], $3::text[]) as i(order_id, severity)
where o.account_id = $1 and o.order_id = i.order_id`;

/** @returns the orders whose stored severity is another one than that of the domain. */
function outdatedOf(orders: readonly Rated[]): { row: Rated; severity: Severity }[] {
  return orders.flatMap((row) => {
    const severity = severityOf(toOrder(toJson(row)), row.warnings);
    return severity === row.severity ? [] : [{ row, severity }];
  });
}

/**
 * Computes the severity of all stored orders again, by account and id. Only orders that get another one are locked, those of an account and
 * a chunk in one transaction, so it can be interrupted and repeated.
 *
 * @param report is called after each chunk with the number of orders so far.
 */
export async function updateSeverities(
  database: Database,
  report: (orders: number) => void,
): Promise<{ orders: number; changed: number }> {
  const total = { orders: 0, changed: 0 };
  for await (const orders of readOrderRows<Rated>(database, { includesTests: true })) {
    const outdated = Map.groupBy(outdatedOf(orders), ({ row }) => row.account_id);
    for (const [accountId, ofAccount] of outdated) {
      const ids = ofAccount.map(({ row }) => row.order_id);
      total.changed += await inTransaction(database, (transaction) => updateLocked(transaction, accountId, ids));
    }
    total.orders += orders.length;
    report(total.orders);
  }
  return total;
}

async function updateLocked(transaction: Connection, accountId: number, orderIds: readonly number[]): Promise<number> {
  // Read again: one of them may have been edited meanwhile.
  const outdated = outdatedOf(await run<Rated>(transaction, LOCK, [accountId, orderIds]));
  const ids = outdated.map(({ row }) => row.order_id);
  await execute(transaction, UPDATE, [accountId, ids, outdated.map(({ severity }) => severity)]);
  const waiting = outdated.filter(({ row }) => row.review_state === 'needs_review').map(({ row }) => row.order_id);
  if (waiting.length > 0) await updateSearchTerms(transaction, accountId, waiting);
  return ids.length;
}
