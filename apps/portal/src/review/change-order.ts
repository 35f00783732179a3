import { type Connection, run } from '@orders/database/run.ts';
import { Problem } from '@orders/domain/problems.ts';

/**
 * What became of a change of one order.
 *
 * @throws {Problem} `order_not_found` for null, and `conflicting_state` for `conflict`.
 */
export function expectChanged<Outcome>(outcome: Outcome): Exclude<Outcome, 'conflict' | null> {
  if (outcome === null) throw new Problem('order_not_found');
  if (outcome === 'conflict') throw new Problem('conflicting_state');
  return outcome as Exclude<Outcome, 'conflict' | null>;
}

/**
 * Locks an order of any state, as an erasure of its customer does, so that the erasure leaves behind nothing that is added meanwhile.
 *
 * @returns `conflict` when the customer was erased; null when the account has no such order.
 */
export async function lockUnerased(
  connection: Connection,
  accountId: number,
  orderId: number,
): Promise<'locked' | 'conflict' | null> {
  const [order] = await run<{ erased_at: Date | null }>(
    connection,
    'select erased_at from orders where account_id = $1 and order_id = $2 for key share',
    [accountId, orderId],
  );
  if (!order) return null;
  return order.erased_at === null ? 'locked' : 'conflict';
}
