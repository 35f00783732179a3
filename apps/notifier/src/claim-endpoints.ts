import type { Database } from '@orders/database/connect.ts';
import { run } from '@orders/database/run.ts';
import type { EventType } from '@orders/domain/events.ts';

/** An endpoint that this process delivers to until its lease ends. */
export interface ClaimedEndpoint {
  accountId: number;
  endpointNumber: number;
  endpointId: string;
  url: string;
  /** Null for all types. */
  types: EventType[] | null;
  sealed: Buffer;
  /** After a rotation: the old secret, which signs too. */
  previousSealed: Buffer | null;
  /** The last sequence of its log that needs no first attempt: each event up to it was tried, or is of another type. */
  cursor: number;
  /** Whether no attempt has succeeded since one failed. */
  isFailing: boolean;
  testEventId: string | null;
}

const CLAIM = {
  name: 'claim-endpoints',
  text: `
with due as (
  select e.account_id, e.endpoint_number, row_number() over (partition by e.account_id order by e.next_round_at) as rank
  from endpoints e
  where not exists (select from accounts a where a.account_id = e.account_id and a.moving_since is not null)
    and e.is_slow = $3::boolean and e.account_id <> all($6::int[]) and (e.lease_expires_at is null or e.lease_expires_at < now())
    and (
      e.test_event_id is not null
      or e.disabled is null and e.next_round_at <= now() and (
        exists (
          select from waiting_deliveries w
          where w.account_id = e.account_id and w.endpoint_number = e.endpoint_number and w.due_at <= now()
        )
        or exists (select from events v where v.account_id = e.account_id and v.sequence > e.delivered_to)
      )
    )
), ready as (
  select e.account_id, e.endpoint_number
  from due d join endpoints e using (account_id, endpoint_number)
  where d.rank <= $5::int and (e.lease_expires_at is null or e.lease_expires_at < now())
  order by e.next_round_at, e.account_id, e.endpoint_number
  limit $4::int
  for update of e skip locked
)
update endpoints e set lease_id = $1::uuid, lease_expires_at = now() + $2::int * interval '1 ms'
from ready r
where e.account_id = r.account_id and e.endpoint_number = r.endpoint_number
returning e.account_id as "accountId", e.endpoint_number as "endpointNumber", e.endpoint_id as "endpointId", e.url, e.types, e.sealed,
          case when e.previous_until > now() then e.previous_sealed end as "previousSealed", e.delivered_to as cursor,
          e.failing_since is not null as "isFailing", e.test_event_id as "testEventId"`,
};

/** What to claim. */
export interface EndpointClaim {
  leaseId: string;
  leaseMs: number;
  /** True for endpoints that are new, were just enabled, fail, or were slow in the last minutes; false for all others. */
  isSlow: boolean;
  limit: number;
  /** Max endpoints of each account. */
  perAccount: number;
  /** Accounts whose endpoints are not claimed. */
  except: readonly number[];
}

/** Leases endpoints that have something to deliver, those that wait longest first. */
export async function claimEndpoints(database: Database, claim: EndpointClaim): Promise<ClaimedEndpoint[]> {
  const { leaseId, leaseMs, isSlow, limit, perAccount, except } = claim;
  return run<ClaimedEndpoint>(database, CLAIM, [leaseId, leaseMs, isSlow, limit, perAccount, except]);
}
