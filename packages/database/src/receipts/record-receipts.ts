import type { Channel } from '@orders/domain';
import { type Database, run } from '../connect.ts';
import { ascending } from './among.ts';

/** An order that passed every check, as intake hands it over. */
export interface IncomingReceipt {
  receiptId: string;
  accountId: number;
  channel: Channel;
  sourceOrderId: string;
  idempotencyKey: string | null;
  /** The exact bytes received. */
  body: Buffer;
}

const INCOMING = `
  unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::text[], $6::int[], $7::int[])
    as i(receipt_id, account_id, channel, source_order_id, idempotency_key, body_start, body_length)`;
const PAYLOAD = 'substring($10::bytea from p.start for p.length)';
const PAYLOADS = (bodies: string) => `
  select $8::uuid, p.account_id, ${bodies}
  from unnest($11::int[], $12::int[], $13::int[]) as p(account_id, start, length)`;
const DUE_AT = "now() + $9::int * interval '1 ms'";
const RECEIPTS = 'select receipt_id, account_id, channel, source_order_id, $8::uuid, body_start, body_length';

const INSERT_PAYLOADS = 'insert into receipt_payloads (batch_id, account_id, bodies)';
const INSERT_PROMISE = 'insert into outbox (batch_id, receipt_ids, due_at)';
const INSERT_RECEIPTS =
  'insert into receipts (receipt_id, account_id, channel, source_order_id, batch_id, body_start, body_length)';

/** For a batch without idempotency keys, none of which can be taken. */
const RECORD = {
  name: 'record-receipts',
  text: `
with payloads as (${INSERT_PAYLOADS} ${PAYLOADS(PAYLOAD)}),
     promised as (${INSERT_PROMISE} values ($8::uuid, $1::uuid[], ${DUE_AT}))
${INSERT_RECEIPTS} ${RECEIPTS} from ${INCOMING}`,
};

/**
 * Blanks take the place of a body whose key was taken: nobody could read it there, so nobody could erase it either. Where no key of an
 * account was taken, nothing of this is evaluated.
 */
const WITHOUT_REFUSED = `
  case when p.account_id in (select account_id from refused) then (
    select string_agg(
      case when i.receipt_id in (select receipt_id from accepted)
        then substring($10::bytea from p.start + i.body_start - 1 for i.body_length)
        else decode(repeat('20', i.body_length), 'hex') end, '' order by i.body_start)
    from incoming i where i.account_id = p.account_id
  ) else ${PAYLOAD} end`;

const RECORD_KEYED = {
  name: 'record-keyed-receipts',
  // Keys are taken in key order, so two intakes that share keys wait for one another instead of deadlocking.
  text: `
with incoming as (select * from ${INCOMING}),
keyed as (
  insert into idempotency_keys (account_id, idempotency_key, receipt_id)
  select account_id, idempotency_key, receipt_id from incoming
  where idempotency_key is not null
  order by account_id, idempotency_key collate "C"
  on conflict do nothing
  returning receipt_id
), refused as materialized (
  select receipt_id, account_id from incoming
  where idempotency_key is not null and receipt_id not in (select receipt_id from keyed)
), accepted as materialized (
  select * from incoming where idempotency_key is null or receipt_id in (select receipt_id from keyed)
), payloads as (
  ${INSERT_PAYLOADS} ${PAYLOADS(WITHOUT_REFUSED)} where p.account_id in (select account_id from accepted)
), promised as (
  ${INSERT_PROMISE} select $8::uuid, array_agg(receipt_id order by receipt_id), ${DUE_AT} from accepted having count(*) > 0
), stored as (
  ${INSERT_RECEIPTS} ${RECEIPTS} from accepted
)
select receipt_id from refused`,
};

/**
 * Stores receipts, their bodies, their idempotency keys and the promise to ring for them, all or nothing, in one statement.
 *
 * @param batchId names the outbox row.
 * @param graceMs how long the bell of this process has before the sweeper rings instead, in milliseconds.
 * @param batch no two of them with the same account and idempotency key.
 * @returns the ids stored, ascending; one that is missing met an idempotency key that was taken.
 */
export async function recordReceipts(
  database: Database,
  batchId: string,
  graceMs: number,
  batch: readonly IncomingReceipt[],
): Promise<string[]> {
  const { receipts, starts, payloads } = byAccount(batch);
  const statement = batch.some(({ idempotencyKey }) => idempotencyKey !== null) ? RECORD_KEYED : RECORD;
  const refused = await run<{ receipt_id: string }>(database, statement, [
    receipts.map(({ receiptId }) => receiptId),
    receipts.map(({ accountId }) => accountId),
    receipts.map(({ channel }) => channel),
    receipts.map(({ sourceOrderId }) => sourceOrderId),
    receipts.map(({ idempotencyKey }) => idempotencyKey),
    starts,
    receipts.map(({ body }) => body.length),
    batchId,
    graceMs,
    Buffer.concat(receipts.map(({ body }) => body)),
    payloads.map(({ accountId }) => accountId),
    payloads.map(({ start }) => start),
    payloads.map(({ length }) => length),
  ]);
  const refusedIds = new Set(refused.map((row) => row.receipt_id));
  return ascending(receipts.map(({ receiptId }) => receiptId).filter((receiptId) => !refusedIds.has(receiptId)));
}

/**
 * Puts the receipts of each account together, so that its bodies are one stretch of all bodies.
 *
 * @returns `starts` says where in its account's stretch a body starts, and each payload which stretch that is; both count from 1.
 */
function byAccount(batch: readonly IncomingReceipt[]) {
  const receipts = batch.toSorted((a, b) => a.accountId - b.accountId);
  const starts: number[] = [];
  const payloads: { accountId: number; start: number; length: number }[] = [];
  let last = { accountId: Number.NaN, start: 1, length: 0 };
  for (const { accountId, body } of receipts) {
    if (accountId !== last.accountId) {
      last = { accountId, start: last.start + last.length, length: 0 };
      payloads.push(last);
    }
    starts.push(last.length + 1);
    last.length += body.length;
  }
  return { receipts, starts, payloads };
}

/** The receipt that first used an idempotency key; its body is null once the receipt was dropped, or its customer erased. */
export interface Original {
  accountId: number;
  idempotencyKey: string;
  receiptId: string;
  body: Buffer | null;
}

/**
 * The bodies of a batch are taken out of their compressed row once, not for each receipt of it: sent together, many are asked for together.
 * Appending nothing is what takes them out. Each such row is cut before the next is read, so that one at a time takes memory.
 */
const FIND_ORIGINALS = {
  name: 'find-originals',
  text: `
with found as materialized (
  select k.account_id, k.idempotency_key, k.receipt_id, r.batch_id, r.body_start, r.body_length
  from unnest($1::int[], $2::text[]) as wanted(account_id, idempotency_key)
  join idempotency_keys k on k.account_id = wanted.account_id and k.idempotency_key = wanted.idempotency_key
  left join lateral (
    select batch_id, body_start, body_length from receipts
    where receipt_id = k.receipt_id and account_id = k.account_id and erased_at is null offset 0
  ) r on true
)
select b.account_id as "accountId", f.idempotency_key as "idempotencyKey", f.receipt_id as "receiptId",
       substring(p.bodies from f.body_start for f.body_length) as body
from (
  select batch_id, account_id, array_agg(idempotency_key) as keys, array_agg(receipt_id) as receipts,
         array_agg(body_start) as starts, array_agg(body_length) as lengths
  from found group by batch_id, account_id
) b
left join lateral (
  select bodies || ''::bytea as bodies from receipt_payloads
  where batch_id = b.batch_id and account_id = b.account_id offset 0
) p on true
cross join lateral unnest(b.keys, b.receipts, b.starts, b.lengths)
  as f(idempotency_key, receipt_id, body_start, body_length)`,
};

/** Finds the receipts that the given idempotency keys belong to. */
export async function findOriginals(
  database: Database,
  keys: readonly { accountId: number; idempotencyKey: string }[],
): Promise<Original[]> {
  return run<Original>(database, FIND_ORIGINALS, [
    keys.map((key) => key.accountId),
    keys.map((key) => key.idempotencyKey),
  ]);
}
