import { createHash } from 'node:crypto';
import type { AuditEvent } from '@orders/database/audit.ts';
import { type Connection, run } from '@orders/database/run.ts';

/** The end of the chain, or of a verified part of it. */
export interface ChainEnd {
  /** 0 if the chain is empty. */
  position: number;
  /** SHA-256 in hex; of zeros if the chain is empty. */
  hash: string;
}

/** An audit event with its position in the chain. */
export interface ChainedEvent extends ChainEnd, AuditEvent {
  /** Whether details were erased, when and by whom. */
  erased: { at: string; by: string | null } | null;
}

/** What is wrong in the chain, in words. */
export interface ChainFault {
  fault: string;
}

const START: ChainEnd = { position: 0, hash: '00'.repeat(32) };
const VERIFY_CHUNK = 1000;
/** Details can be megabytes. */
const READ_CHUNK = 50;

/** SQL: what an erasure leaves of `details`, as `kept_audit_details`. Here again, because verify trusts no stored function. */
export const KEPT_DETAILS = `
case when jsonb_typeof(details) = 'object' then
  details - 'reason' - 'changes' || case when jsonb_typeof(details -> 'changes') = 'array' then jsonb_build_object('changes', (
    select coalesce(jsonb_agg(jsonb_build_object('pointer', c.change -> 'pointer', 'before', null, 'after', null) order by c.ordinal), '[]')
    from jsonb_array_elements(details -> 'changes') with ordinality as c(change, ordinal))) else '{}' end
else details end`;

// The worker erases what is older than a week in test accounts, without an event.
const IS_TEST = 'exists (select from accounts a where a.account_id = e.account_id and a.test_of is not null)';
// Any other erasure has an event of its own, which was recorded after it in the same transaction. The minute is for a clock that was set back.
const ERASURE = `
select x.actor from audit_events x
where x.action = 'order_erased' and x.subject = e.subject and x.account_id = e.account_id and x.at >= c.erased_at - interval '1 minute'
order by x.event_id limit 1`;

const VERIFY = `
select c.position, c.event_id, encode(c.hash, 'hex') as hash, e.event_id is not null as exists,
       encode(sha256(convert_to(jsonb_build_array(
         c.position, e.event_id, e.account_id, extract(epoch from e.at)::text, e.actor, e.action, e.subject,
         e.kept, encode(c.details_hash, 'hex'))::text, 'UTF8')), 'hex') as entry_hash,
       case when c.salt is null then e.details is not distinct from e.kept and (exists (${ERASURE}) or ${IS_TEST})
            else sha256(convert_to(c.salt::text || coalesce(e.details::text, ''), 'UTF8')) = c.details_hash end as details_hold
from audit_chain c
left join lateral (
  select *, ${KEPT_DETAILS} as kept from audit_events where event_id = c.event_id offset 0
) as e on true
where c.position > $1 and c.position <= $2
order by c.position`;

interface VerifiedRow {
  position: number;
  event_id: number;
  hash: string;
  exists: boolean;
  entry_hash: string;
  details_hold: boolean;
}

/** The end of the chain. */
export async function findChainEnd(connection: Connection): Promise<ChainEnd> {
  return (await findEnd(connection)) ?? START;
}

/** The given position with its hash, or the last one. */
async function findEnd(connection: Connection, position?: number): Promise<ChainEnd | undefined> {
  const [end] = await run<ChainEnd>(
    connection,
    `select position, encode(hash, 'hex') as hash from audit_chain where $1::bigint is null or position = $1
     order by position desc limit 1`,
    [position],
  );
  return end;
}

/**
 * Verifies the chain, and that each event has a position in it or waits for one.
 *
 * @param from the position of the first entry to verify; the hash of the one before is taken as it is.
 * @param expected a hash that was noted elsewhere.
 * @param onProgress is called with the last verified position after each thousand entries.
 * @returns the number of verified entries and the end, or the first fault.
 */
export async function verifyChain(
  connection: Connection,
  { from, expected, onProgress }: { from: number; expected?: ChainEnd; onProgress: (position: number) => void },
): Promise<(ChainEnd & { entries: number }) | ChainFault> {
  const end = await findChainEnd(connection);
  if (expected && expected.position > end.position)
    return { fault: `the chain ends at ${end.position}, before the expected position ${expected.position}` };
  if (from > 1 && from > end.position) return { fault: `the chain ends at ${end.position}, before position ${from}` };
  let last = from === 1 ? START : await findEnd(connection, from - 1);
  if (!last) return { fault: `position ${from - 1} is missing` };
  while (last.position < end.position) {
    // A range and no limit, so that no plan hashes more than a chunk.
    const to = Math.min(last.position + VERIFY_CHUNK, end.position);
    const rows: VerifiedRow[] = await run(connection, VERIFY, [last.position, to]);
    if (rows.length === 0) return { fault: `position ${last.position + 1} is missing` };
    for (const row of rows) {
      const fault = faultOf(row, last);
      if (fault) return { fault };
      last = { position: row.position, hash: row.hash };
    }
    onProgress(last.position);
  }
  if (expected) {
    const stored = await findEnd(connection, expected.position);
    if (stored?.hash !== expected.hash)
      return { fault: `position ${expected.position} has another hash than the expected one` };
  }
  const fault = await findUnchained(connection);
  return fault ? { fault } : { entries: end.position - from + 1, ...last };
}

function faultOf(row: VerifiedRow, last: ChainEnd): string | null {
  const entry = `entry ${row.event_id} at position ${row.position}`;
  if (row.position === last.position) return `${entry} is there twice`;
  if (row.position !== last.position + 1) return `position ${last.position + 1} is missing`;
  if (!row.exists) return `${entry} is missing`;
  const hash = createHash('sha256').update(Buffer.from(last.hash, 'hex')).update(Buffer.from(row.entry_hash, 'hex'));
  if (hash.digest('hex') !== row.hash) return `${entry} was changed, or is out of order`;
  if (!row.details_hold) return `${entry} was changed: its details`;
  return null;
}

// Ids as text: a role that may insert can choose one that is no safe integer.
const FIRST_ID = '-9223372036854775808';
const UNCHAINED_CHUNK = 20_000;

// An event and its position, or its wait, become visible together. Those of an account that is being moved here get theirs once it has moved.
const UNCHAINED = `
with chunk as materialized (
  select event_id, account_id from audit_events where event_id > $1::bigint order by event_id limit ${UNCHAINED_CHUNK}
)
select max(event_id)::text as last, min(event_id) filter (
  where not exists (select from audit_chain c where c.event_id = chunk.event_id)
    and not exists (select from unchained_audit_events q where q.event_id = chunk.event_id)
    and not exists (
      select from accounts a where a.account_id = chunk.account_id and a.moving_since is not null and a.moved_to is null
    )
)::text as inserted
from chunk`;

const REMOVED = `
select q.event_id::text as removed from unchained_audit_events q
where not exists (select from audit_events e where e.event_id = q.event_id)
order by q.event_id limit 1`;

interface Chunk {
  last: string | null;
  inserted: string | null;
}

async function findUnchained(connection: Connection): Promise<string | null> {
  let after: string | null = FIRST_ID;
  while (after !== null) {
    const [chunk]: Chunk[] = await run<Chunk>(connection, UNCHAINED, [after]);
    const { last, inserted } = chunk as Chunk;
    if (inserted) return `entry ${inserted} was inserted: it has no position in the chain and waits for none`;
    after = last;
  }
  const [gone] = await run<{ removed: string }>(connection, REMOVED);
  return gone ? `entry ${gone.removed} is missing: it was removed before it had a position in the chain` : null;
}

const READ = `
select c.position, e.event_id, e.account_id, e.at, e.actor, e.action, e.subject, e.details,
       case when c.erased_at is not null then json_build_object('at', c.erased_at, 'by', (${ERASURE})) end as erased,
       encode(c.hash, 'hex') as hash
from (select * from audit_chain where position > $1 order by position limit ${READ_CHUNK}) as c
cross join lateral (select * from audit_events where event_id = c.event_id offset 0) as e
order by c.position`;

/** Entries in the order of the chain, after a position, at most 50. */
export async function readChain(connection: Connection, after: number): Promise<ChainedEvent[]> {
  return run<ChainedEvent>(connection, READ, [after]);
}
