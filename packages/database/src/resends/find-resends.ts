import { type Difference, differenceJson } from '@orders/domain';
import { type Database, run } from '../connect.ts';
import { timeOf } from '../receipts/partitions.ts';

export type Decision = 'accepted' | 'refused';

/** A receipt that said something else than its order as first sent; of one order the newest of them waits while `decision` is null. */
export interface Resend {
  order_id: number;
  receipt_id: string;
  /** By Postgres' clock; of one kept by a version that noted no time, by the clock that made its id. */
  received_at: Date;
  changes: Difference[];
  decision: Decision | null;
  decided_by: string | null;
  decided_at: Date | null;
}

const MAX_OF_AN_ORDER = 20;

const FIND = {
  name: 'find-resends',
  text: `
select s.*
from unnest($2::bigint[]) as wanted(order_id)
cross join lateral (
  select order_id, receipt_id, received_at, changes, decision, decided_by, decided_at from resends
  where account_id = $1::int and order_id = wanted.order_id and changes is not null
  order by received_at desc, receipt_id desc limit ${MAX_OF_AN_ORDER}
) as s
order by s.order_id, s.received_at desc, s.receipt_id desc`,
};

/**
 * What was sent again of these orders of an account with other content, the newest of each order first, at most 20 of each. Receipts are
 * dropped before their resends, and what holds an order until then can be decided until then.
 */
export async function findResends(
  database: Database,
  accountId: number,
  orderIds: readonly number[],
): Promise<Resend[]> {
  // Postgres' -infinity, which stands for no time, is read as a number.
  const rows = await run<Omit<Resend, 'received_at'> & { received_at: Date | number }>(database, FIND, [
    accountId,
    orderIds,
  ]);
  return rows.map(({ received_at, changes, ...row }) => ({
    ...row,
    received_at: received_at instanceof Date ? received_at : new Date(timeOf(row.receipt_id)),
    changes: changes.map(differenceJson),
  }));
}
