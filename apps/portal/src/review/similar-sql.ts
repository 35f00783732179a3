import { REACHABLE_PHONE } from '@orders/domain/severity.ts';

/** SQL expressions for the total of an order and for the time it was received. */
interface Received {
  total: string;
  receivedAt: string;
}

/**
 * SQL: whether two orders from the same phone can be the same order: they were received within a day, and their totals differ by at most a
 * tenth of the higher one, or one of them is unknown.
 */
export const isSimilar = (a: Received, b: Received) => `(
  ${b.receivedAt} between ${a.receivedAt} - interval '1 day' and ${a.receivedAt} + interval '1 day'
  and (${a.total} is null or ${b.total} is null or abs(${a.total} - ${b.total}) <= 0.1 * greatest(${a.total}, ${b.total})))`;

export const received = (alias: string): Received => ({ total: `${alias}.total`, receivedAt: `${alias}.received_at` });

/** Max newest orders of an account that are compared with each other. */
const MAX_RECENT = 10_000;
/** Each order is compared with this many before it and after it from the same phone, as one phone may have thousands. */
const NEIGHBORS = 3;

const neighbors = ['lag', 'lead'].flatMap((direction) =>
  Array.from({ length: NEIGHBORS }, (_, index): Received => {
    const neighbor = (column: string) => `${direction}(${column}, ${index + 1}) over same_phone`;
    return { total: neighbor('total'), receivedAt: neighbor('received_at') };
  }),
);

/** SQL: the ids of the newest orders of account $1 that have a likely duplicate among them. */
export const RECENT_WITH_SIMILAR = `
select order_id from (
  select order_id, ${neighbors.map((neighbor) => isSimilar({ total: 'total', receivedAt: 'received_at' }, neighbor)).join(' or ')} as is_similar
  from (
    select order_id, customer_phone, total, received_at from orders
    where account_id = $1::int order by order_id desc limit ${MAX_RECENT}
  ) as newest
  where customer_phone ~ '${REACHABLE_PHONE}'
  window same_phone as (partition by customer_phone order by received_at, order_id)
) as recent
where is_similar`;
