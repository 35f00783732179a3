import type { AccountEvent } from '@orders/domain/events.ts';
import type { Database } from '@orders/database/connect.ts';
import { run } from '@orders/database/run.ts';
import type { ClaimedEndpoint } from './claim-endpoints.ts';

/** Max events that are examined for new deliveries; many may be of other types. */
const MAX_EXAMINED = 500;

const READ = {
  name: 'read-deliveries',
  // With a limit above 1, at least one new event is read, so that events which the receiver refuses do not delay the others. An event that
  // was removed because of its age has no id; it is not delivered.
  text: `
with examined as materialized (
  select sequence, type from events where account_id = $1::int and sequence > $3::bigint order by sequence limit ${MAX_EXAMINED}
), candidates as materialized (
  select sequence from examined where $4::text[] is null or type = any($4::text[]) order by sequence limit $5::int
), waiting as materialized (
  select sequence, attempts from waiting_deliveries
  where account_id = $1::int and endpoint_number = $2::int and due_at <= now()
  order by due_at limit case when $6::boolean and exists (select from candidates) then 0 else $5::int end
), room as materialized (
  select case when $5::int = 1 then 1 - count(*) else greatest(1, $5::int - count(*)) end as count from waiting
), new as materialized (
  select sequence from candidates order by sequence limit (select count from room)
), reached as (
  select coalesce(case when (select count(*) from new) = (select count from room) then (select max(sequence) from new)
                       else (select max(sequence) from examined) end, $3::bigint) as sequence
), deliveries as (
  select sequence, attempts, true as "isRetry" from waiting
  union all
  select sequence, 0, false from new
)
select r.sequence as cursor, d.sequence, d.attempts, e.event_id, e.type, e.happened_at, e.receipt_id, e.source_order_id, e.order_id,
       e.details
from reached r
left join deliveries d on true
left join lateral (
  select * from events where account_id = $1::int and sequence = d.sequence offset 0
) as e on true
order by d."isRetry" desc, d.sequence`,
};

/** An event that is to be delivered, and how often that was tried. */
export interface Delivery extends AccountEvent {
  attempts: number;
}

/** What an endpoint gets in one round. */
export interface NextDeliveries {
  deliveries: Delivery[];
  /** Sequences of events that no longer exist. */
  removed: number[];
  /** The cursor of the endpoint after this round. */
  cursor: number;
}

/**
 * Reads what an endpoint gets next: retries that are due, then new events.
 *
 * @param limit max deliveries, and one more new event if as many retries are due. With 1, there is one.
 * @param prefersNew whether a retry is only read if there is no new event.
 */
export async function readDeliveries(
  database: Database,
  endpoint: ClaimedEndpoint,
  limit: number,
  prefersNew: boolean,
): Promise<NextDeliveries> {
  type Row = Omit<Delivery, 'sequence' | 'event_id'> & {
    cursor: number;
    sequence: number | null;
    event_id: string | null;
  };
  const { accountId, endpointNumber, cursor, types } = endpoint;
  const rows = await run<Row>(database, READ, [accountId, endpointNumber, cursor, types, limit, prefersNew]);
  const found = rows.filter(({ sequence }) => sequence !== null);
  return {
    deliveries: found.filter(({ event_id }) => event_id !== null) as unknown as Delivery[],
    removed: found.filter(({ event_id }) => event_id === null).map(({ sequence }) => sequence as number),
    cursor: rows[0]?.cursor ?? cursor,
  };
}
