import type { Channel } from '@orders/domain';
import type { Knex } from 'knex';
import { type Database, run } from './connect.ts';

/** A refusal of a delivery whose key named an account. It holds nothing of what was sent but pointers and the length. */
export interface NewRejection {
  accountId: number;
  channel: Channel;
  /** Of the problem that was answered. */
  code: string;
  /** What is known of the cause. */
  diagnosis: string | null;
  requestId: string;
  keyId: number;
  /** Null where that is not known. */
  bodyBytes: number | null;
  errors: { pointer: string; code: string }[] | null;
  /** Refusals before this one that were counted only. */
  more: number;
}

/** Refusals of an account that are in no row. */
export interface MissedCount {
  accountId: number;
  missed: number;
}

/** A refusal as its account sees it; of the key the name and last four characters. */
export interface RejectedDelivery {
  rejection_id: number;
  at: Date;
  channel: Channel;
  code: string;
  diagnosis: string | null;
  request_id: string;
  key_name: string | null;
  key_last_four: string | null;
  body_bytes: number | null;
  errors: { pointer: string; code: string }[] | null;
  /** Refusals around this one that were counted only. */
  more: number;
}

const RECORD = {
  name: 'record-rejected',
  text: `
insert into rejected_deliveries (account_id, channel, code, diagnosis, request_id, key_id, body_bytes, errors, more)
select * from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int[], $7::int[], $8::jsonb[], $9::int[])`,
};

/** Adds refusals to the logs of their accounts. */
export async function recordRejected(database: Database, rejections: readonly NewRejection[]): Promise<void> {
  await run(database, RECORD, [
    rejections.map(({ accountId }) => accountId),
    rejections.map(({ channel }) => channel),
    rejections.map(({ code }) => code),
    rejections.map(({ diagnosis }) => diagnosis),
    rejections.map(({ requestId }) => requestId),
    rejections.map(({ keyId }) => keyId),
    rejections.map(({ bodyBytes }) => bodyBytes),
    rejections.map(({ errors }) => errors && JSON.stringify(errors)),
    rejections.map(({ more }) => more),
  ]);
}

const ADD_MISSED = {
  name: 'add-missed-refusals',
  text: `
update rejected_deliveries d set more = d.more + m.missed
from unnest($1::int[], $2::int[]) as m (account_id, missed)
cross join lateral (
  select n.rejection_id from rejected_deliveries n
  where n.account_id = m.account_id order by n.rejection_id desc limit 1
) newest
where d.account_id = m.account_id and d.rejection_id = newest.rejection_id
returning d.account_id`,
};

/**
 * Adds refusals that were only counted to the newest row of their account; each account is given once.
 *
 * @returns the ids of the accounts that have a row; nothing is added for others.
 */
export async function addMissedRefusals(database: Database, counts: readonly MissedCount[]): Promise<Set<number>> {
  const rows = await run<{ account_id: number }>(database, ADD_MISSED, [
    counts.map(({ accountId }) => accountId),
    counts.map(({ missed }) => missed),
  ]);
  return new Set(rows.map(({ account_id }) => account_id));
}

/** The last refusals of an account, newest first. */
export async function listRejected(db: Knex, accountId: number, limit: number): Promise<RejectedDelivery[]> {
  return db('rejected_deliveries as d')
    .leftJoin('api_keys as k', (on) => on.on('k.account_id', 'd.account_id').on('k.key_id', 'd.key_id'))
    .where('d.account_id', accountId)
    .orderBy('d.rejection_id', 'desc')
    .limit(limit)
    .select('d.rejection_id', 'd.at', 'd.channel', 'd.code', 'd.diagnosis', 'd.request_id', 'd.body_bytes')
    .select('d.errors', 'd.more', 'k.name as key_name', 'k.last_four as key_last_four');
}

/**
 * Removes refusals older than `keptMs` milliseconds, and of each account all but its newest `kept`.
 *
 * @returns how many.
 */
export async function pruneRejected(db: Knex, keptMs: number, kept: number): Promise<number> {
  const { rowCount } = await db.raw(
    `with surplus as materialized (
       select a.account_id, (select o.rejection_id from rejected_deliveries o where o.account_id = a.account_id
                             order by o.rejection_id desc offset :kept limit 1) as newest
       from accounts a
     )
     delete from rejected_deliveries d using surplus s
     where d.account_id = s.account_id and (d.at < now() - :keptMs * interval '1 ms' or d.rejection_id <= s.newest)`,
    { keptMs, kept },
  );
  return rowCount;
}
