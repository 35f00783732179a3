import type { Knex } from 'knex';
import type { Database } from '../connect.ts';
import { findReceipts, type ReceiptPage } from './list-receipts.ts';
import { LAST_UUID } from './uuids.ts';

/** Filter for an account's dead receipts, by the table `dead_letters`, which a trigger maintains. */
export interface DeadFilter {
  errorCode?: string | undefined;
  /** Prefix of their `source_order_id`. */
  sourcePrefix?: string | undefined;
  /** When they became dead; both bounds are inclusive. */
  from?: Date | undefined;
  to?: Date | undefined;
}

function selectDead(db: Knex, accountId: number, filter: DeadFilter): Knex.QueryBuilder {
  const query = db('dead_letters').where({ account_id: accountId });
  if (filter.errorCode !== undefined) query.where({ error_code: filter.errorCode });
  if (filter.sourcePrefix !== undefined) query.whereRaw('starts_with(source_order_id, ?)', [filter.sourcePrefix]);
  if (filter.from !== undefined) query.where('died_at', '>=', filter.from);
  if (filter.to !== undefined) query.where('died_at', '<=', filter.to);
  return query;
}

/** Ids of an account's dead receipts, newest first, at most `limit`, older than `before`. */
export async function findDeadIds(
  db: Knex,
  accountId: number,
  filter: DeadFilter,
  limit: number,
  before: string,
): Promise<string[]> {
  return selectDead(db, accountId, filter)
    .where('receipt_id', '<', before)
    .orderBy('receipt_id', 'desc')
    .limit(limit)
    .pluck('receipt_id');
}

/** Number of dead receipts by error code. */
export async function countDead(
  db: Knex,
  accountId: number,
  filter: DeadFilter,
): Promise<{ error_code: string | null; count: number }[]> {
  return selectDead(db, accountId, filter)
    .groupBy('error_code')
    .orderBy('error_code')
    .select('error_code', db.raw('count(*)::int as count'));
}

/** Ids of dead receipts, oldest first; of all accounts unless `accountId` is given. */
export async function listDeadIds(db: Knex, accountId?: number): Promise<string[]> {
  const dead = db('dead_letters').orderBy('receipt_id').pluck('receipt_id');
  return accountId === undefined ? dead : dead.where({ account_id: accountId });
}

/** Dead receipts of an account, newest first. */
export async function listAccountDeadLetters(
  db: Knex,
  database: Database,
  accountId: number,
  page: DeadFilter & { before?: string | undefined; limit: number },
): Promise<ReceiptPage> {
  const ids = await findDeadIds(db, accountId, page, page.limit, page.before ?? LAST_UUID);
  const receipts = await findReceipts(database, accountId, ids);
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

/** The dead receipts of all accounts, the most recently dead first, each with its cursor. */
export async function listDeadLetters(
  db: Knex,
  filter: { before?: DeadLetterCursor | undefined; limit: number },
): Promise<{ dead: DeadLetterOfAccount; cursor: DeadLetterCursor }[]> {
  const { before, limit } = filter;
  const { rows } = await db.raw<{ rows: (DeadLetterOfAccount & { died_at_text: string })[] }>(
    `select d.receipt_id, d.account_id, a.name as account_name, d.error_code, d.died_at,
            to_char(d.died_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as died_at_text
     from dead_letters d join accounts a on a.account_id = d.account_id
     where :diedAt::timestamptz is null or (d.died_at, d.receipt_id) < (:diedAt, :receiptId::uuid)
     order by d.died_at desc, d.receipt_id desc limit :limit`,
    { diedAt: before?.died_at ?? null, receiptId: before?.receipt_id ?? null, limit },
  );
  return rows.map(({ died_at_text, ...dead }) => ({
    dead,
    cursor: { died_at: died_at_text, receipt_id: dead.receipt_id },
  }));
}
