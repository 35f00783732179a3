import type { Knex } from 'knex';

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
