import type { Channel } from '@orders/domain/receipt-states.ts';
import { type Connection, execute, run } from './run.ts';

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
export async function listRejected(
  connection: Connection,
  accountId: number,
  limit: number,
): Promise<RejectedDelivery[]> {
  return run<RejectedDelivery>(
    connection,
    `select d.rejection_id, d.at, d.channel, d.code, d.diagnosis, d.request_id, d.body_bytes, d.errors, d.more,
            k.name as key_name, k.last_four as key_last_four, s.name as source_name
     from rejected_deliveries d
     left join api_keys k on k.account_id = d.account_id and k.key_id = d.key_id
     left join sources s on s.account_id = d.account_id and s.source_number = d.source_number
     where d.account_id = $1 order by d.rejection_id desc limit $2`,
    [accountId, limit],
  );
}

/**
 * Removes rejections older than `keptMs` milliseconds, and all but the newest `kept` of each account.
 *
 * @returns the number of removed rows.
 */
export async function pruneRejected(connection: Connection, keptMs: number, kept: number): Promise<number> {
  return execute(
    connection,
    `with surplus as materialized (
       select a.account_id, (select o.rejection_id from rejected_deliveries o where o.account_id = a.account_id
                             order by o.rejection_id desc offset $2 limit 1) as newest
       from accounts a
     )
     delete from rejected_deliveries d using surplus s
     where d.account_id = s.account_id and (d.at < now() - $1 * interval '1 ms' or d.rejection_id <= s.newest)`,
    [keptMs, kept],
  );
}
