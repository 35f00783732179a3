import type { Channel } from '@orders/domain/receipt-states.ts';
import type { Knex } from 'knex';

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
  /** The name of the source, if it came to one. */
  source_name: string | null;
  body_bytes: number | null;
  errors: { pointer: string; code: string }[] | null;
  /** Number of rejections around this one that were counted without a row. */
  more: number;
}

/** The last rejections of an account, newest first. */
export async function listRejected(db: Knex, accountId: number, limit: number): Promise<RejectedDelivery[]> {
  return db('rejected_deliveries as d')
    .leftJoin('api_keys as k', (on) => on.on('k.account_id', 'd.account_id').on('k.key_id', 'd.key_id'))
    .leftJoin('sources as s', (on) => on.on('s.account_id', 'd.account_id').on('s.source_number', 'd.source_number'))
    .where('d.account_id', accountId)
    .orderBy('d.rejection_id', 'desc')
    .limit(limit)
    .select('d.rejection_id', 'd.at', 'd.channel', 'd.code', 'd.diagnosis', 'd.request_id', 'd.body_bytes')
    .select('d.errors', 'd.more', 'k.name as key_name', 'k.last_four as key_last_four', 's.name as source_name');
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
