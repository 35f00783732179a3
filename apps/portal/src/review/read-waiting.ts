import { type Connection, run } from '@orders/database/run.ts';
import { SEVERITIES, type Severity } from '@orders/domain/severity.ts';

/** A sum of totals, as decimal text. */
export interface Money {
  currency: string;
  total: string;
}

/** The orders of an account that need review. */
export interface WaitingOrders {
  /** At most 10,000; the other figures are of the newest 10,000, too. */
  count: number;
  /** Whether there are more. */
  capped: boolean;
  by_severity: Record<Severity, number>;
  /** When the oldest of all was received. */
  oldest_at: Date | null;
  /** The largest sum first. */
  money: Money[];
}

/** A parameter of the statements, like the one of `countNeedingReview`. */
const MAX_COUNTED = 10_000;

const IN_LIST = "account_id = $1::int and review_state = 'needs_review'";

const SUMS = {
  name: 'sum-waiting-orders',
  text: `
select severity, currency, count(*) as count, sum(total) as total
from (select severity, currency, total from orders where ${IN_LIST} order by order_id desc limit $2::int) as newest
group by grouping sets ((severity), (currency))
order by total desc nulls last, currency`,
};

const ENDS = {
  name: 'find-ends-of-waiting-orders',
  text: `
select (select received_at from orders where ${IN_LIST} order by order_id limit 1) as oldest_at,
       exists (select from orders where ${IN_LIST} order by order_id desc offset $2::int limit 1) as capped`,
};

export async function readWaiting(connection: Connection, accountId: number): Promise<WaitingOrders> {
  type Sum = { severity: Severity | null; currency: string | null; count: number; total: string | null };
  const sums = await run<Sum>(connection, SUMS, [accountId, MAX_COUNTED]);
  const [ends] = await run<{ oldest_at: Date | null; capped: boolean }>(connection, ENDS, [accountId, MAX_COUNTED]);
  const countOf = (severity: Severity) => sums.find((sum) => sum.severity === severity)?.count ?? 0;
  const by_severity = Object.fromEntries(SEVERITIES.map((severity) => [severity, countOf(severity)]));
  return {
    count: sums.reduce((count, sum) => count + (sum.severity === null ? 0 : sum.count), 0),
    capped: ends?.capped ?? false,
    by_severity: by_severity as Record<Severity, number>,
    oldest_at: ends?.oldest_at ?? null,
    money: moneyOf(sums),
  };
}

/** The sums of the rows that have both a currency and a total. */
export function moneyOf(sums: readonly { currency: string | null; total: string | null }[]): Money[] {
  return sums.flatMap(({ currency, total }) => (currency === null || total === null ? [] : { currency, total }));
}
