import { orderRow } from '@orders/database/orders/order-rows.ts';
import { type Connection, run } from '@orders/database/run.ts';

/** That a reviewer has snoozed an order; it is back once the time is over. */
export interface Snooze {
  until: Date;
  /** An e-mail address. */
  by: string;
  reason: string | null;
}

const FIND = {
  name: 'find-snoozes',
  text: `
select order_id, until, by, reason from order_snoozes
where account_id = $1::int and order_id = any($2::bigint[]) and until > now() - interval '1 day'`,
};

/** The snoozes of those orders of this account that are snoozed, or were until a day ago. */
export async function findSnoozes(
  connection: Connection,
  accountId: number,
  orderIds: readonly number[],
): Promise<Map<number, Snooze>> {
  const rows = await run<Snooze & { order_id: number }>(connection, FIND, [accountId, orderIds]);
  return new Map(rows.map(({ order_id, ...snooze }) => [order_id, snooze]));
}

/** A snoozed order, with what identifies it. */
export interface SnoozedOrder {
  order_id: number;
  order_number: string;
  customer_name: string | null;
  until: Date;
}

/** Max orders of an account that are snoozed at a time: each poll of the list reads them. */
export const MAX_SNOOZED = 200;

const LIST = {
  name: 'list-snoozed',
  text: `
select s.order_id, o.order_number, o.customer_name, s.until
from (
  select order_id, until from order_snoozes
  where account_id = $1::int and until > now() order by until, order_id limit ${MAX_SNOOZED}
) as s
cross join lateral (${orderRow('$1::int', 's.order_id')}) as o
order by s.until, s.order_id`,
};

/** The snoozed orders of an account, the first to come back first. */
export async function listSnoozed(connection: Connection, accountId: number): Promise<SnoozedOrder[]> {
  return run<SnoozedOrder>(connection, LIST, [accountId]);
}

const REMOVE = {
  name: 'remove-old-snoozes',
  text: "delete from order_snoozes where account_id = $1::int and until < now() - interval '1 day'",
};

/** Removes the snoozes, and with them the reasons, of orders that came back more than a day ago. */
export async function removeOldSnoozes(connection: Connection, accountId: number): Promise<void> {
  await run(connection, REMOVE, [accountId]);
}
