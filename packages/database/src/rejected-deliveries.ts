import type { Channel } from '@orders/domain';
import type { Knex } from 'knex';
import { type Database, run } from './connect.ts';

/** A rejected delivery of an authenticated account. Of the body it contains only pointers and the length. */
export interface NewRejection {
  accountId: number;
  channel: Channel;
  /** Code of the `Problem` in the response. */
  code: string;
  /** Detected cause. */
  diagnosis: string | null;
  requestId: string;
  keyId: number;
  /** Null if unknown. */
  bodyBytes: number | null;
  errors: { pointer: string; code: string }[] | null;
  /** Number of earlier rejections that were counted without a row. */
  more: number;
}

/** Number of an account's rejections without a row. */
export interface MissedCount {
  accountId: number;
  missed: number;
}

/** A rejected delivery as its account sees it, with the key's name and last four characters. */
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
  /** Number of rejections around this one that were counted without a row. */
  more: number;
}

const RECORD = {
  name: 'record-rejected',
  text: `
insert into rejected_deliveries (account_id, channel, code, diagnosis, request_id, key_id, body_bytes, errors, more)
select * from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int[], $7::int[], $8::jsonb[], $9::int[])`,
};

/** Adds rejections to the logs of their accounts. */
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
  name: 'add-missed-rejections',
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
 * Adds counted rejections to the newest row of their account.
 *
 * @param counts one per account.
 * @returns the ids of the accounts that have a row; nothing is added for the others.
 */
export async function addMissedRejections(database: Database, counts: readonly MissedCount[]): Promise<Set<number>> {
  const rows = await run<{ account_id: number }>(database, ADD_MISSED, [
    counts.map(({ accountId }) => accountId),
    counts.map(({ missed }) => missed),
  ]);
  return new Set(rows.map(({ account_id }) => account_id));
}

/** The last rejections of an account, newest first. */
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
 * Removes rejections older than `keptMs` milliseconds, and all but the newest `kept` of each account.
 *
 * @returns the number of removed rows.
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
