import type { Knex } from 'knex';

/** Filter for an account's dead receipts, by the table `dead_letters`, which a trigger maintains (migration 007). */
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
export async function findDead(
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
export async function listDead(db: Knex, accountId?: number): Promise<string[]> {
  const dead = db('dead_letters').orderBy('receipt_id').pluck('receipt_id');
  return accountId === undefined ? dead : dead.where({ account_id: accountId });
}
