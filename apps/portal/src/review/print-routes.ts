import { recordAudit } from '@orders/database/audit.ts';
import { type Connection, inTransaction, run } from '@orders/database/run.ts';
import { Router } from 'express';
import { accountIdOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { orderIdOf } from '../read-request.ts';
import { expectChanged, lockUnerased } from './change-order.ts';

/** That an order was printed by itself. */
export interface Print {
  /** When and by whom it was printed first. */
  printed_at: Date;
  printed_by: string;
  count: number;
}

/** A print, and when the order was printed first: by this print if its number is 1. */
export type RecordedPrint = Omit<Print, 'count'> & { number: number };

const FIND = {
  name: 'find-print',
  text: 'select printed_at, printed_by, count from order_prints where account_id = $1::int and order_id = $2::bigint',
};

/** How often an order of this account was printed, and its first print; null if it never was. */
export async function findPrint(connection: Connection, accountId: number, orderId: number): Promise<Print | null> {
  const [print] = await run<Print>(connection, FIND, [accountId, orderId]);
  return print ?? null;
}

/** `POST /orders/:orderId/prints`: the page records a print before it opens the dialog of the printer. */
export function printRoutes({ database, runShort }: PortalDeps): Router {
  const router = Router();
  router.post('/orders/:orderId/prints', async (request, response) => {
    const print = { accountId: accountIdOf(request), orderId: orderIdOf(request), by: personOf(request).email };
    response.status(201).json(expectChanged(await runShort(request, () => recordPrint(database, print))));
  });
  return router;
}

/**
 * Counts a print of an order in any state, with audit. Prints at the same time get different numbers.
 *
 * @returns `conflict` when the customer of the order was erased; null when the account has no such order.
 */
async function recordPrint(
  connection: Connection,
  { accountId, orderId, by }: { accountId: number; orderId: number; by: string },
): Promise<RecordedPrint | 'conflict' | null> {
  return inTransaction(connection, async (transaction) => {
    const locked = await lockUnerased(transaction, accountId, orderId);
    if (locked !== 'locked') return locked;
    const [recorded] = await run<RecordedPrint>(
      transaction,
      `insert into order_prints as p (account_id, order_id, printed_by) values ($1, $2, $3)
       on conflict (account_id, order_id) do update set count = p.count + 1
       returning count as number, printed_at, printed_by`,
      [accountId, orderId, by],
    );
    const [subject, details] = [`order:${orderId}`, { print_number: recorded?.number ?? 0 }];
    await recordAudit(transaction, { accountId, actor: by, action: 'order_printed', subject, details });
    return recorded ?? null;
  });
}
