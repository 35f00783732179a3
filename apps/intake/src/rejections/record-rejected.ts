import type { Database } from '@orders/database/connect.ts';
import { run } from '@orders/database/run.ts';
import type { Channel } from '@orders/domain/receipt-states.ts';

/** A rejected delivery of an authenticated account. It contains no content of the body, only pointers and the length. */
export interface NewRejection {
  accountId: number;
  channel: Channel;
  /** Code of the `Problem` in the response. */
  code: string;
  /** Detected cause. */
  diagnosis: string | null;
  requestId: string;
  /** Either a key or a source. */
  keyId: number | null;
  sourceNumber: number | null;
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

const RECORD = {
  name: 'record-rejected',
  text: `
insert into rejected_deliveries (account_id, channel, code, diagnosis, request_id, key_id, body_bytes, errors, more, source_number)
select * from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::int[], $8::jsonb[], $9::int[], $10::int[])`,
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
    rejections.map(({ sourceNumber }) => sourceNumber),
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
