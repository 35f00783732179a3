import type { ReceiptState, Warning } from '@orders/domain';
import { type Database, run } from '../connect.ts';

/** What went wrong with one attempt: our code, and of the database's error only what holds no personal data. */
export interface AttemptError {
  code: string;
  sqlstate: string | null;
  constraint: string | null;
}

const FAIL = {
  name: 'fail-receipt',
  text: `
update receipts
set state = case when attempts + 1 >= $4::int then 'dead' else 'failed' end,
    attempts = attempts + 1,
    next_attempt_at = case when attempts + 1 >= $4::int then null else now() + $3::int * interval '1 ms' end,
    error_code = $5::text, warnings = $8::jsonb, updated_at = now(), lease_id = null, lease_expires_at = null,
    history = coalesce(history, '[]') || jsonb_build_object('attempt', attempts + 1, 'normalized_at', normalized_at,
      'failed_at', now(), 'code', $5::text, 'sqlstate', $6::text, 'constraint', $7::text)
where receipt_id = $1::uuid and lease_id = $2::uuid and state = 'normalized'
returning state`,
};

/**
 * Counts a failed attempt: the receipt becomes `failed` and due again after `delayMs` milliseconds, or `dead` when that was the last.
 *
 * @returns the state it is in now; null when the lease was no longer ours and nothing changed.
 */
export async function failReceipt(
  database: Database,
  attempt: {
    receiptId: string;
    leaseId: string;
    delayMs: number;
    maxAttempts: number;
    error: AttemptError;
    warnings: Warning[];
  },
): Promise<ReceiptState | null> {
  const { receiptId, leaseId, delayMs, maxAttempts, error, warnings } = attempt;
  const [row] = await run<{ state: ReceiptState }>(database, FAIL, [
    receiptId,
    leaseId,
    Math.round(delayMs),
    maxAttempts,
    error.code,
    error.sqlstate,
    error.constraint,
    warnings.length > 0 ? JSON.stringify(warnings) : null,
  ]);
  return row?.state ?? null;
}
