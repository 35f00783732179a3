import { isTestAccount } from '@orders/database/accounts/test-accounts.ts';
import type { Database } from '@orders/database/connect.ts';
import { MAY_MOVE, NORMALIZED_AT } from '@orders/database/receipts/find-receipt.ts';
import { run } from '@orders/database/run.ts';
import type { Warning } from '@orders/domain/normalize/warnings.ts';
import type { ReceiptState } from '@orders/domain/receipt-states.ts';

/** The error of one attempt: our code, and the parts of the database error that contain no personal data. */
export interface AttemptError {
  code: string;
  sqlstate: string | null;
  constraint: string | null;
}

interface Failed {
  state: ReceiptState;
  isTest: boolean;
}

const FAIL = {
  name: 'fail-receipt',
  text: `
with failing as (
  select r.receipt_id, r.account_id, r.received_at, r.modified_at, r.attempts + 1 as attempt, (
           select k.order_id from order_keys k where k.account_id = r.account_id and k.source_order_id = r.source_order_id
         ) as earlier_order_id
  from receipts r
  where r.receipt_id = $2::uuid and ${MAY_MOVE}
  for update
), decided as (
  select *, case when attempt < $4::int then 'failed' when earlier_order_id is null then 'dead' else 'duplicate' end as next_state
  from failing
), changed_delivery as (
  insert into changed_deliveries (account_id, order_id, receipt_id, received_at, modified_at)
  select account_id, earlier_order_id, receipt_id, received_at, modified_at from decided where next_state = 'duplicate'
)
update receipts r
set state = d.next_state, attempts = d.attempt, normalized_at = ${NORMALIZED_AT}, updated_at = now(), lease_id = null, lease_expires_at = null,
    next_attempt_at = case when d.next_state = 'failed' then now() + $3::int * interval '1 ms' end,
    error_code = case when d.next_state <> 'duplicate' then $5::text end,
    warnings = $8::jsonb,
    history = coalesce(r.history, '[]') || jsonb_build_object('attempt', d.attempt, 'normalized_at', ${NORMALIZED_AT},
      'failed_at', now(), 'code', $5::text, 'sqlstate', $6::text, 'constraint', $7::text)
from decided d
where r.receipt_id = $2::uuid and r.receipt_id = d.receipt_id and r.account_id = d.account_id
returning r.state, ${isTestAccount('r.account_id')} as "isTest"`,
};

/**
 * Records a failed attempt. The receipt becomes `failed` and due again after `delayMs` milliseconds. After the last attempt it becomes
 * `dead`, or `duplicate` without a comparison if its order exists by then.
 *
 * @returns the new state, and whether a test account sent it; null, and nothing changed, if the receipt may no longer be moved.
 */
export async function failReceipt(
  database: Database,
  attempt: {
    receiptId: string;
    /** Null for a receipt that was read without a lease. */
    leaseId: string | null;
    delayMs: number;
    maxAttempts: number;
    error: AttemptError;
    warnings: Warning[];
  },
): Promise<Failed | null> {
  const { receiptId, leaseId, delayMs, maxAttempts, error, warnings } = attempt;
  const [row] = await run<Failed>(database, FAIL, [
    leaseId,
    receiptId,
    Math.round(delayMs),
    maxAttempts,
    error.code,
    error.sqlstate,
    error.constraint,
    warnings.length > 0 ? JSON.stringify(warnings) : null,
  ]);
  return row ?? null;
}
