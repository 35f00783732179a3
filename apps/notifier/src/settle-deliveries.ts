import { isTestAccount } from '@orders/database/accounts/test-accounts.ts';
import type { Database } from '@orders/database/connect.ts';
import { type DisabledReason, MAX_DUE_AT_ONCE } from '@orders/database/endpoints/endpoints.ts';
import { run } from '@orders/database/run.ts';
import type { DeliveryError } from '@orders/domain/endpoints.ts';
import type { ClaimedEndpoint } from './claim-endpoints.ts';

/** One attempt of a round. */
export interface Attempt {
  eventUuid: string;
  type: string;
  /** Null for a test event. */
  sequence: number | null;
  /** 1 for the first attempt. */
  attempt: number;
  at: Date;
  durationMs: number;
  status: number | null;
  /** Null if it succeeded. */
  error: DeliveryError | null;
  /** Time until this event is tried again; ignored after a success and for a test event. */
  nextAttemptInMs: number;
}

/** The outcome of a round of attempts. */
export interface RoundOutcome {
  leaseId: string;
  attempts: readonly Attempt[];
  /** See `NextDeliveries`. */
  removed: readonly number[];
  cursor: number;
  tookLong: boolean;
  /** The next round begins no sooner, because of `Retry-After` or the rate of its host. */
  minNextRoundInMs: number;
}

/** An endpoint is disabled after this time without a success. */
const DISABLE_AFTER = '5 days';
/**
 * An endpoint counts as slow for this time after a round that took long. Otherwise one that is quick and slow by turns would use the
 * capacity of quick endpoints for its slow rounds.
 */
const SLOW_FOR = '5 minutes';

const SETTLE = {
  name: 'settle-deliveries',
  // While an endpoint fails, it gets one attempt at a time. The interval is a quarter of the time since it began to fail, at least 5 seconds
  // and at most 5 minutes. After the first success, the waiting deliveries with the earliest due_at become due now. This happens once for
  // each delivery, so an event that the receiver always rejects stays on its retry schedule. A round without attempts changes no state.
  text: `
with attempts as materialized (
  select * from unnest($4::uuid[], $5::text[], $6::bigint[], $7::smallint[], $8::timestamptz[], $9::int[], $10::smallint[], $11::text[], $12::bigint[])
    as a(event_id, type, sequence, attempt, at, duration_ms, status, error, retry_ms)
), summary as materialized (
  select coalesce(bool_or(error is null), false) as has_success, coalesce(bool_or(error is not null), false) as has_failure,
         coalesce(bool_or(error = 'gone'), false) as is_gone
  from attempts
), before as materialized (
  select failing_since, disabled from endpoints
  where account_id = $1::int and endpoint_number = $2::int and lease_id = $3::uuid
  for update
), settled as (
  update endpoints e
  set lease_id = null, lease_expires_at = null, delivered_to = greatest(e.delivered_to, $13::bigint),
      is_slow = $14::boolean or s.has_failure and not s.has_success or not s.has_success and e.is_slow or coalesce(e.last_slow_at > now() - interval '${SLOW_FOR}', false),
      last_slow_at = case when $14::boolean then now() else e.last_slow_at end,
      failing_since = case when s.has_success then null when s.has_failure then coalesce(e.failing_since, now()) else e.failing_since end,
      disabled = case when e.disabled is not null then e.disabled
                      when s.is_gone then 'gone'
                      when s.has_failure and not s.has_success and e.failing_since < now() - interval '${DISABLE_AFTER}' then 'failing' end,
      test_event_id = case when not (e.test_event_id = any($15::uuid[])) then e.test_event_id end,
      next_round_at = case
        -- Not the earlier time, or endpoints that have only tests would always be first.
        when e.test_event_id = any($15::uuid[]) then greatest(e.next_round_at, now())
        when s.has_failure and not s.has_success then now() + greatest($16::bigint * interval '1 ms', least(greatest(
          (now() - coalesce(e.failing_since, now())) / 4, interval '5 seconds'), interval '5 minutes'))
        else now() + $16::bigint * interval '1 ms' end
  from summary s, before b
  where e.account_id = $1::int and e.endpoint_number = $2::int
  returning e.account_id, e.endpoint_number, s.has_success and b.failing_since is not null as has_recovered,
            case when b.disabled is null then e.disabled end as newly_disabled
), done as (
  delete from waiting_deliveries w using settled s
  where w.account_id = s.account_id and w.endpoint_number = s.endpoint_number
    and (w.sequence = any($17::bigint[]) or w.sequence in (select sequence from attempts where error is null))
), retried as (
  insert into waiting_deliveries as w (account_id, endpoint_number, sequence, attempts, due_at)
  select s.account_id, s.endpoint_number, a.sequence, a.attempt, now() + a.retry_ms * interval '1 ms'
  from settled s cross join attempts a
  where a.error is not null and a.sequence is not null
  on conflict (account_id, endpoint_number, sequence) do update set attempts = excluded.attempts, due_at = excluded.due_at
), to_retry_now as materialized (
  select s.account_id, s.endpoint_number, w.sequence from settled s
  cross join lateral (
    select sequence from waiting_deliveries
    where account_id = s.account_id and endpoint_number = s.endpoint_number and due_at > now() and not is_hastened
    order by due_at limit ${MAX_DUE_AT_ONCE}
  ) as w
  where s.has_recovered
), retried_now as (
  update waiting_deliveries w set due_at = now(), is_hastened = true
  from to_retry_now r
  where w.account_id = r.account_id and w.endpoint_number = r.endpoint_number and w.sequence = r.sequence
    and w.sequence not in (select sequence from attempts where sequence is not null)
), logged as (
  insert into delivery_attempts (account_id, endpoint_number, at, event_id, type, sequence, attempt, duration_ms, status, error)
  select s.account_id, s.endpoint_number, a.at, a.event_id, a.type, a.sequence, a.attempt, a.duration_ms, a.status, a.error
  from settled s cross join attempts a
  order by a.at
)
select newly_disabled as disabled,
       case when newly_disabled is not null then ${isTestAccount('settled.account_id')} end as "isTest"
from settled`,
};

/**
 * Stores the outcome of a round and releases the endpoint, in one transaction. Nothing changes if the lease is no longer ours.
 *
 * @returns why the endpoint is disabled from now on, and whether a test account has it; null if it is not, or was before.
 */
export async function settleDeliveries(
  database: Database,
  { accountId, endpointNumber, testEventId }: ClaimedEndpoint,
  { leaseId, attempts, removed, cursor, tookLong, minNextRoundInMs }: RoundOutcome,
): Promise<{ reason: DisabledReason; isTest: boolean } | null> {
  const [row] = await run<{ disabled: DisabledReason | null; isTest: boolean }>(database, SETTLE, [
    accountId,
    endpointNumber,
    leaseId,
    attempts.map(({ eventUuid }) => eventUuid),
    attempts.map(({ type }) => type),
    attempts.map(({ sequence }) => sequence),
    attempts.map(({ attempt }) => Math.min(attempt, 32_767)),
    attempts.map(({ at }) => at),
    attempts.map(({ durationMs }) => Math.round(durationMs)),
    attempts.map(({ status }) => status),
    attempts.map(({ error }) => error),
    attempts.map(({ nextAttemptInMs }) => Math.round(nextAttemptInMs)),
    cursor,
    tookLong,
    testEventId === null ? [] : [testEventId],
    Math.round(minNextRoundInMs),
    removed,
  ]);
  return row?.disabled ? { reason: row.disabled, isTest: row.isTest } : null;
}
