import { findReceipts, type ReceiptPage } from '@orders/database/receipts/list-receipts.ts';
import { LAST_UUID } from '@orders/database/receipts/uuids.ts';
import { type Connection, matching, run } from '@orders/database/run.ts';

/** Filter for an account's dead receipts, by the table `dead_letters`, which a trigger maintains. */
export interface DeadFilter {
  errorCode?: string | undefined;
  /** Prefix of their `source_order_id`. */
  sourcePrefix?: string | undefined;
  /** When they became dead; both bounds are inclusive. */
  from?: Date | undefined;
  to?: Date | undefined;
}

/** SQL: the dead receipts of an account that match, for the values. */
function selectDead(values: unknown[], accountId: number, filter: DeadFilter & { before?: string }): string {
  const { errorCode, sourcePrefix, from, to, before } = filter;
  return `dead_letters where ${matching(values, {
    'account_id = ?': accountId,
    'error_code = ?': errorCode,
    'starts_with(source_order_id, ?)': sourcePrefix,
    'died_at >= ?': from,
    'died_at <= ?': to,
    'receipt_id < ?': before,
  })}`;
}

/** Ids of an account's dead receipts, newest first, at most `limit`, older than `before`. */
export async function findDeadIds(
  connection: Connection,
  accountId: number,
  filter: DeadFilter,
  limit: number,
  before: string,
): Promise<string[]> {
  const values: unknown[] = [];
  const dead = selectDead(values, accountId, { ...filter, before });
  const rows = await run<{ receipt_id: string }>(
    connection,
    `select receipt_id from ${dead} order by receipt_id desc limit ${limit}`,
    values,
  );
  return rows.map(({ receipt_id }) => receipt_id);
}

/** The dead receipts with one error code. */
export interface DeadCount {
  error_code: string | null;
  count: number;
  /** When the first and the last of them became dead. */
  oldest_at: Date;
  newest_at: Date;
}

/** Number of dead receipts by error code. */
export async function countDead(connection: Connection, accountId: number, filter: DeadFilter): Promise<DeadCount[]> {
  const values: unknown[] = [];
  const dead = selectDead(values, accountId, filter);
  const count = `
    select error_code, count(*)::int as count, min(died_at) as oldest_at, max(died_at) as newest_at
    from ${dead} group by error_code order by error_code`;
  return run<DeadCount>(connection, count, values);
}

/** Dead receipts of an account, newest first. */
export async function listAccountDeadLetters(
  connection: Connection,
  accountId: number,
  page: DeadFilter & { before?: string | undefined; limit: number },
): Promise<ReceiptPage> {
  const ids = await findDeadIds(connection, accountId, page, page.limit, page.before ?? LAST_UUID);
  const receipts = await findReceipts(connection, accountId, ids);
  return { receipts, next: ids.length === page.limit ? (ids.at(-1) ?? null) : null };
}

/** A dead receipt and its account. */
export interface DeadLetterOfAccount {
  receipt_id: string;
  account_id: number;
  account_name: string;
  error_code: string | null;
  died_at: Date;
}

/** `died_at` is a string with microseconds, as a `Date` would skip rows of the same millisecond. */
export interface DeadLetterCursor {
  died_at: string;
  receipt_id: string;
}

/** The dead receipts of all accounts but test accounts, the most recently dead first, each with its cursor. */
export async function listDeadLetters(
  connection: Connection,
  filter: { before?: DeadLetterCursor | undefined; limit: number },
): Promise<{ dead: DeadLetterOfAccount; cursor: DeadLetterCursor }[]> {
  const { before, limit } = filter;
  const rows = await run<DeadLetterOfAccount & { died_at_text: string }>(
    connection,
    `select d.receipt_id, d.account_id, a.name as account_name, d.error_code, d.died_at,
            to_char(d.died_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as died_at_text
     from dead_letters d join accounts a on a.account_id = d.account_id
     where a.test_of is null ${before ? 'and (d.died_at, d.receipt_id) < ($1::timestamptz, $2::uuid)' : ''}
     order by d.died_at desc, d.receipt_id desc limit ${limit}`,
    before ? [before.died_at, before.receipt_id] : [],
  );
  return rows.map(({ died_at_text, ...dead }) => ({
    dead,
    cursor: { died_at: died_at_text, receipt_id: dead.receipt_id },
  }));
}
