import type { Knex } from 'knex';

/** A dead receipt and whose it is. */
export interface DeadOfAll {
  receipt_id: string;
  account_id: number;
  account_name: string;
  error_code: string | null;
  died_at: Date;
}

/** The dead receipts of all accounts, those that died last first; before one, where that is given. */
export async function listDeadOfAll(
  db: Knex,
  filter: { before?: { diedAt: Date; receiptId: string } | undefined; limit: number },
): Promise<DeadOfAll[]> {
  const { before, limit } = filter;
  const { rows } = await db.raw<{ rows: DeadOfAll[] }>(
    `select d.receipt_id, d.account_id, a.name as account_name, d.error_code, d.died_at
     from dead_letters d join accounts a on a.account_id = d.account_id
     where :diedAt::timestamptz is null or (d.died_at, d.receipt_id) < (:diedAt, :receiptId::uuid)
     order by d.died_at desc, d.receipt_id desc limit :limit`,
    { diedAt: before?.diedAt ?? null, receiptId: before?.receiptId ?? null, limit },
  );
  return rows;
}
