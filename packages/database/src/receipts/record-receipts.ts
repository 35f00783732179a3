import type { Channel } from '@orders/domain/receipt-states.ts';
import type { DeliveryKind } from '@orders/domain/sources/delivery-kind.ts';
import { type Connection, columnOf, IS_LIMITED, LOCK_WAIT_MS, limitLockWait, run, runToEnd } from '../run.ts';
import { ascending } from './uuids.ts';

/** An order that passed intake's checks. */
export interface IncomingReceipt {
  receiptId: string;
  accountId: number;
  channel: Channel;
  sourceOrderId: string;
  idempotencyKey: string | null;
  /** The exact bytes received; of a delivery to a source, the payload that its mapping made. */
  body: Buffer;
  /** Of a delivery to a source: the source, the exact bytes received, what it is, and when the platform changed the order. */
  delivery?: { sourceNumber: number; raw: Buffer; kind: DeliveryKind; modifiedAt: Date | null } | undefined;
}

/** The bytes of a receipt that are stored. */
export function storedLength({ body, delivery }: IncomingReceipt): number {
  return body.length + (delivery?.raw.length ?? 0);
}

/** Body and raw delivery of each receipt, one after the other. */
function concatStored(receipts: readonly IncomingReceipt[]): Buffer {
  return Buffer.concat(receipts.flatMap(({ body, delivery }) => (delivery ? [body, delivery.raw] : body)));
}

/** SQL: the arrays `$1` to `$7` and `$14` to `$17`, and more ones with their names. */
export const unnestIncoming = (arrays: readonly string[] = [], names: readonly string[] = []) => `
  unnest(${['$1::uuid[], $2::int[], $3::text[], $4::text[], $5::text[], $6::int[], $7::int[], $14::int[], $15::int[], $16::text[], $17::timestamptz[]', ...arrays].join(', ')})
    as i(${['receipt_id, account_id, channel, source_order_id, idempotency_key, body_start, body_length, source_number, raw_length, delivery_kind, modified_at', ...names].join(', ')})`;
const INCOMING = unnestIncoming();
const PAYLOAD = 'substring($10::bytea from p.start for p.length)';
/** SQL: the bodies of each account, as `PAYLOAD` or `WITHOUT_REPLAYS`. */
export const selectPayloads = (bodies: string) => `
  select $8::uuid, p.account_id, ${bodies}
  from unnest($11::int[], $12::int[], $13::int[]) as p(account_id, start, length)`;
const dueAt = (parameter: string) => `now() + ${parameter}::int * interval '1 ms'`;
export const DUE_AT = dueAt('$9');
export const RECEIPTS =
  'select receipt_id, account_id, channel, source_order_id, $8::uuid, body_start, body_length, source_number, raw_length, delivery_kind, modified_at';

export const INSERT_PAYLOADS = 'insert into receipt_payloads (batch_id, account_id, bodies)';
export const INSERT_OUTBOX = 'insert into outbox (batch_id, receipt_ids, account_ids, due_at)';
export const STORED_COLUMNS =
  'receipt_id, account_id, channel, source_order_id, batch_id, body_start, body_length, source_number, raw_length, delivery_kind, modified_at';
const INSERT_RECEIPTS = `insert into receipts (${STORED_COLUMNS})`;

/** For a batch without idempotency keys. */
const RECORD = {
  name: 'record-receipts',
  text: `
with payloads as (${INSERT_PAYLOADS} ${selectPayloads(PAYLOAD)}),
     queued as (${INSERT_OUTBOX} values ($8::uuid, $1::uuid[], $11::int[], ${DUE_AT}))
${INSERT_RECEIPTS} ${RECEIPTS} from ${INCOMING}`,
};

/** For one receipt without an idempotency key: without `unnest`, it takes half the time of `RECORD`. */
const RECORD_ONE = {
  name: 'record-one-receipt',
  text: `
with payload as (${INSERT_PAYLOADS} values ($5::uuid, $2::int, $6::bytea)),
     queued as (${INSERT_OUTBOX} values ($5::uuid, array[$1::uuid], array[$2::int], ${dueAt('$10')}))
${INSERT_RECEIPTS} values ($1::uuid, $2::int, $3::text, $4::text, $5::uuid, 1, $7::int, $8::int, $9::int, $11::text, $12::timestamptz)`,
};

/**
 * SQL: the bodies of an account, with spaces in place of bodies whose idempotency key was already used. Such a body is not stored: no
 * receipt would refer to it, so it could never be erased. Accounts without such a body keep the cheaper `PAYLOAD`.
 */
export const WITHOUT_REPLAYS = `
  case when p.account_id in (select account_id from replays) then (
    select string_agg(
      case when i.receipt_id in (select receipt_id from accepted)
        then substring($10::bytea from p.start + i.body_start - 1 for i.body_length + coalesce(i.raw_length, 0))
        else decode(repeat('20', i.body_length + coalesce(i.raw_length, 0)), 'hex') end, '' order by i.body_start)
    from incoming i where i.account_id = p.account_id
  ) else ${PAYLOAD} end`;

const RECORD_KEYED = {
  name: 'record-keyed-receipts',
  // Keys are inserted in key order, so that two intakes with the same keys do not deadlock.
  text: `
with ${limitLockWait('$18')},
incoming as (select * from ${INCOMING} where ${IS_LIMITED}),
new_keys as (
  insert into idempotency_keys (account_id, idempotency_key, receipt_id)
  select account_id, idempotency_key, receipt_id from incoming
  where idempotency_key is not null
  order by account_id, idempotency_key collate "C"
  on conflict do nothing
  returning receipt_id
), replays as materialized (
  select receipt_id, account_id from incoming
  where idempotency_key is not null and receipt_id not in (select receipt_id from new_keys)
), accepted as materialized (
  select * from incoming where idempotency_key is null or receipt_id in (select receipt_id from new_keys)
), payloads as (
  ${INSERT_PAYLOADS} ${selectPayloads(WITHOUT_REPLAYS)} where p.account_id in (select account_id from accepted)
), queued as (
  ${INSERT_OUTBOX} select $8::uuid, array_agg(receipt_id order by receipt_id), $11::int[], ${DUE_AT} from accepted having count(*) > 0
), stored as (
  ${INSERT_RECEIPTS} ${RECEIPTS} from accepted
)
select receipt_id from replays`,
};

/**
 * Stores receipts, bodies, idempotency keys and an outbox row, atomically in one statement.
 *
 * @param batchId id of the outbox row.
 * @param graceMs milliseconds until the sweeper takes the receipts if this process's wake-up is lost.
 * @param batch without two receipts of the same account and idempotency key.
 * @param lockWaitMs how long it waits for each idempotency key that another transaction stores, in milliseconds; 0 means no limit.
 * @returns the stored ids, ascending; the idempotency key of a missing one was used before.
 * @throws {pg.DatabaseError} and nothing is stored; `isLockWaitOver` when another transaction holds a key.
 */
export async function recordReceipts(
  database: Connection,
  batchId: string,
  graceMs: number,
  batch: readonly IncomingReceipt[],
  lockWaitMs = LOCK_WAIT_MS,
): Promise<string[]> {
  const [first] = batch;
  if (batch.length === 1 && first?.idempotencyKey === null) {
    await recordOne(database, batchId, graceMs, first);
    return [first.receiptId];
  }
  const { receipts, values } = incomingValues(batchId, graceMs, batch);
  const isKeyed = batch.some(({ idempotencyKey }) => idempotencyKey !== null);
  const rows = await (isKeyed
    ? runToEnd<{ receipt_id: string }>(database, RECORD_KEYED, [...values, lockWaitMs])
    : run<{ receipt_id: string }>(database, RECORD, values));
  const replays = new Set(rows.map((row) => row.receipt_id));
  return ascending(receipts.map(({ receiptId }) => receiptId).filter((receiptId) => !replays.has(receiptId)));
}

async function recordOne(
  database: Connection,
  batchId: string,
  graceMs: number,
  receipt: IncomingReceipt,
): Promise<void> {
  const { receiptId, accountId, channel, sourceOrderId, body, delivery } = receipt;
  await run(database, RECORD_ONE, [
    receiptId,
    accountId,
    channel,
    sourceOrderId,
    batchId,
    concatStored([receipt]),
    body.length,
    delivery?.sourceNumber ?? null,
    delivery?.raw.length ?? null,
    graceMs,
    delivery?.kind ?? null,
    delivery?.modifiedAt ?? null,
  ]);
}

/** The parameters `$1` to `$17` of the statements that store receipts, and the receipts in the order of the arrays. */
export function incomingValues<Receipt extends IncomingReceipt>(
  batchId: string,
  graceMs: number,
  batch: readonly Receipt[],
): { receipts: Receipt[]; values: unknown[] } {
  const { receipts, starts, payloads } = byAccount(batch);
  const values = [
    receipts.map(({ receiptId }) => receiptId),
    receipts.map(({ accountId }) => accountId),
    receipts.map(({ channel }) => channel),
    receipts.map(({ sourceOrderId }) => sourceOrderId),
    columnOf(receipts.map(({ idempotencyKey }) => idempotencyKey)),
    starts,
    receipts.map(({ body }) => body.length),
    batchId,
    graceMs,
    concatStored(receipts),
    payloads.map(({ accountId }) => accountId),
    payloads.map(({ start }) => start),
    payloads.map(({ length }) => length),
    columnOf(receipts.map(({ delivery }) => delivery?.sourceNumber ?? null)),
    columnOf(receipts.map(({ delivery }) => delivery?.raw.length ?? null)),
    columnOf(receipts.map(({ delivery }) => delivery?.kind ?? null)),
    columnOf(receipts.map(({ delivery }) => delivery?.modifiedAt ?? null)),
  ];
  return { receipts, values };
}

/**
 * Groups the receipts by account, so that the bodies of an account are one contiguous range of all bodies.
 *
 * @returns `starts`: the start of each body in its account's range; `payloads`: the range of each account. Both count from 1.
 */
function byAccount<Receipt extends IncomingReceipt>(batch: readonly Receipt[]) {
  const receipts = batch.toSorted((a, b) => a.accountId - b.accountId);
  const starts: number[] = [];
  const payloads: { accountId: number; start: number; length: number }[] = [];
  let last = { accountId: Number.NaN, start: 1, length: 0 };
  for (const receipt of receipts) {
    const { accountId } = receipt;
    if (accountId !== last.accountId) {
      last = { accountId, start: last.start + last.length, length: 0 };
      payloads.push(last);
    }
    starts.push(last.length + 1);
    last.length += storedLength(receipt);
  }
  return { receipts, starts, payloads };
}

const FIND_BY_KEYS = {
  name: 'find-receipts-by-keys',
  text: `
select idempotency_key as "idempotencyKey", receipt_id as "receiptId" from idempotency_keys
where account_id = $1::int and idempotency_key = any($2::text[])`,
};

/** The ids of the receipts of an account's idempotency keys, by key. */
export async function findReceiptsByKeys(
  database: Connection,
  accountId: number,
  idempotencyKeys: readonly string[],
): Promise<Map<string, string>> {
  const rows = await run<{ idempotencyKey: string; receiptId: string }>(database, FIND_BY_KEYS, [
    accountId,
    idempotencyKeys,
  ]);
  return new Map(rows.map(({ idempotencyKey, receiptId }) => [idempotencyKey, receiptId]));
}
