import type { Database } from '@orders/database/connect.ts';
import { JOIN_ORIGINAL } from '@orders/database/receipts/find-receipt.ts';
import { ascending, idIn } from '@orders/database/receipts/uuids.ts';
import { run } from '@orders/database/run.ts';
import type { ReceiptState } from '@orders/domain/receipt-states.ts';

/** What became of an order that was sent. */
export interface Outcome {
  receipt_id: string;
  state: ReceiptState;
  /** Of a failed or dead receipt. */
  error_code: string | null;
  /** Of a duplicate: whether the account has the order with other content. */
  differs: boolean;
  /** The order that was written, or that a duplicate is of; null until then. */
  order_id: number | null;
}

const FIND = {
  name: 'find-outcomes',
  text: `
select r.receipt_id, r.state, case when r.state in ('failed', 'dead') then r.error_code end as error_code,
       coalesce(jsonb_array_length(s.changes), 0) > 0 as differs, coalesce(r.order_id, o.order_id) as order_id
from receipts r ${JOIN_ORIGINAL}
where ${idIn('r.receipt_id', '$2')} and r.account_id = $1::int`,
};

/** The outcomes of receipts of this account, in any order; nothing for those that no longer exist. */
export function findOutcomes(database: Database, accountId: number, receiptIds: readonly string[]): Promise<Outcome[]> {
  return run<Outcome>(database, FIND, [accountId, ascending([...new Set(receiptIds)])]);
}
