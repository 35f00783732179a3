import { hash } from 'node:crypto';
import type { Database } from '@orders/database/connect.ts';
import { ascending, idIn } from '@orders/database/receipts/uuids.ts';
import { run } from '@orders/database/run.ts';

/** A delivery with an idempotency key that was used before. */
export interface Replay {
  accountId: number;
  idempotencyKey: string;
  body: Buffer;
}

/** The receipt that first used an idempotency key. */
export interface Original {
  receiptId: string;
  /** Null when the receipt was dropped before its key expired; callers then treat the key as unused. */
  sourceOrderId: string | null;
  bodyLength: number;
  /** Whether the bodies are identical bytes; null when the original was dropped or erased. */
  isSame: boolean | null;
}

/**
 * Postgres compares bodies by their SHA-256, so that bodies of ordinary retries are not transferred. The bodies of a batch are decompressed
 * once and not per receipt, as orders that were sent together are usually retried together: `bodies || ''` decompresses them.
 * Postgres holds one such row in memory at a time.
 */
const FIND_ORIGINALS = {
  name: 'find-originals',
  text: `
with found as materialized (
  select wanted.ordinal, wanted.digest, k.account_id, k.receipt_id, r.source_order_id, r.erased_at, r.batch_id, r.body_start, r.body_length
  from unnest($1::int[], $2::text[], $3::bytea[]) with ordinality as wanted(account_id, idempotency_key, digest, ordinal)
  join idempotency_keys k on k.account_id = wanted.account_id and k.idempotency_key = wanted.idempotency_key
  left join lateral (
    select source_order_id, erased_at, batch_id, body_start, body_length from receipts
    where receipt_id = k.receipt_id and account_id = k.account_id offset 0
  ) r on true
)
select f.ordinal::int as ordinal, f.receipt_id as "receiptId", f.source_order_id as "sourceOrderId", coalesce(f.length, 0) as "bodyLength",
       case when not f.is_erased then sha256(substring(p.bodies from f.start for f.length)) = f.digest end as "isSame"
from (
  select batch_id, account_id, array_agg(ordinal) as ordinals, array_agg(digest) as digests, array_agg(receipt_id) as receipts,
         array_agg(source_order_id) as source_ids, array_agg(erased_at is not null) as erased, array_agg(body_start) as starts,
         array_agg(body_length) as lengths
  from found group by batch_id, account_id
) b
left join lateral (
  select bodies || ''::bytea as bodies from receipt_payloads
  where batch_id = b.batch_id and account_id = b.account_id offset 0
) p on true
cross join lateral unnest(b.ordinals, b.digests, b.receipts, b.source_ids, b.erased, b.starts, b.lengths)
  as f(ordinal, digest, receipt_id, source_order_id, is_erased, start, length)`,
};

/**
 * Finds the receipts of idempotency keys, and whether the deliveries have identical bytes.
 *
 * @returns one element per delivery, in the same order; null when the key is not in use.
 */
export async function findOriginals(database: Database, replays: readonly Replay[]): Promise<(Original | null)[]> {
  const rows = await run<Original & { ordinal: number }>(database, FIND_ORIGINALS, [
    replays.map(({ accountId }) => accountId),
    replays.map(({ idempotencyKey }) => idempotencyKey),
    replays.map(({ body }) => hash('sha256', body, 'buffer')),
  ]);
  const originals: (Original | null)[] = replays.map(() => null);
  for (const { ordinal, ...original } of rows) originals[ordinal - 1] = original;
  return originals;
}

const READ_BODIES = {
  name: 'read-original-bodies',
  text: `
with found as materialized (
  select receipt_id, account_id, batch_id, body_start, body_length from receipts
  where ${idIn('receipt_id', '$2')} and account_id = $1::int and erased_at is null
)
select f.receipt_id as "receiptId", substring(p.bodies from f.start for f.length) as body
from (
  select batch_id, account_id, array_agg(receipt_id) as receipts, array_agg(body_start) as starts, array_agg(body_length) as lengths
  from found group by batch_id, account_id
) b
join lateral (
  select bodies || ''::bytea as bodies from receipt_payloads
  where batch_id = b.batch_id and account_id = b.account_id offset 0
) p on true
cross join lateral unnest(b.receipts, b.starts, b.lengths) as f(receipt_id, start, length)`,
};

/** Bodies of an account's receipts by receipt id, without dropped and erased ones. */
export async function readOriginalBodies(
  database: Database,
  accountId: number,
  receiptIds: readonly string[],
): Promise<Map<string, Buffer>> {
  const rows = await run<{ receiptId: string; body: Buffer }>(database, READ_BODIES, [
    accountId,
    ascending([...new Set(receiptIds)]),
  ]);
  return new Map(rows.map(({ receiptId, body }) => [receiptId, body]));
}
