import type { ReceiptState } from '@orders/domain/receipt-states.ts';

/** A receipt to process. */
export interface PendingReceipt {
  receiptId: string;
  accountId: number;
  /** Null when it was not requested, was just moved by an erasure, or no longer exists. */
  body: Buffer | null;
  /** Failed attempts before this one. */
  attempts: number;
}

/** A row of `picked`. One receipt of an account in a batch has the account's bodies. */
export interface PendingRow {
  receiptId: string;
  accountId: number;
  attempts: number;
  state: ReceiptState;
  batchId: string;
  bodyStart: number;
  bodyLength: number;
  /** In base64: `pg` would receive bytes as hexadecimal digits, which are half again as long and slower to decode. */
  bodies: string | null;
}

/**
 * SQL: the rows of the common table expression `picked`, which are receipts, with their bodies if `readsBodies`. These must be joined: a
 * scalar subquery would crash Postgres 18. If another worker has just changed a row that the statement locks, Postgres reinitializes all
 * subqueries, and one with run-time partition pruning then uses freed memory.
 */
export const selectPicked = (readsBodies: string) => `
select c."receiptId", c."accountId", c.attempts, c.state, c."batchId", c."bodyStart", c."bodyLength", encode(c.bodies, 'base64') as bodies
from (
  select c.receipt_id as "receiptId", c.account_id as "accountId", c.attempts, c.state,
         c.batch_id as "batchId", c.body_start as "bodyStart", c.body_length as "bodyLength", p.bodies
  from (
    select *, row_number() over (partition by batch_id, account_id order by body_start) = 1 as is_first from picked
  ) as c
  left join lateral (
    select bodies from receipt_payloads
    where ${readsBodies}::boolean and c.is_first and batch_id = c.batch_id and account_id = c.account_id
    offset 0
  ) as p on true
  -- Sorted before bodies are read and encoded, as the sort would otherwise hold them all.
  order by c.received_at, c.batch_id, c.body_start
) as c`;

/** Gives each receipt its part of the bodies of its account. */
export function withBodies(rows: readonly PendingRow[]): PendingReceipt[] {
  const keyOf = ({ batchId, accountId }: PendingRow) => `${batchId} ${accountId}`;
  // Collected first: the row that has them need not be the account's first.
  const bodiesByKey = new Map(
    rows.flatMap((row) => (row.bodies !== null ? [[keyOf(row), Buffer.from(row.bodies, 'base64')]] : [])),
  );
  return rows.map((row) => {
    const { receiptId, accountId, attempts, bodyStart, bodyLength } = row;
    const body = bodiesByKey.get(keyOf(row))?.subarray(bodyStart - 1, bodyStart - 1 + bodyLength) ?? null;
    return { receiptId, accountId, attempts, body };
  });
}
