import type { Database } from '@orders/database/connect.ts';
import { IS_NEW } from '@orders/database/receipts/find-receipt.ts';
import { ascending, idIn } from '@orders/database/receipts/uuids.ts';
import { run } from '@orders/database/run.ts';
import { type PendingReceipt, type PendingRow, selectPicked, withBodies } from './pending-receipts.ts';

const READ_NEW = {
  name: 'read-new-receipts',
  text: `
with picked as (
  select * from receipts r where ${idIn('r.receipt_id', '$1')} and ${IS_NEW}
)
${selectPicked('$2')}`,
};

/**
 * Reads new receipts without a lease, in the order in which they were received. Only for the first delivery of a wake-up: a crash leaves no
 * trace on the receipt. If two workers read the same receipt, only one of them can move it.
 *
 * @param readsBodies as for `claimReceipts`.
 */
export async function readNewReceipts(
  database: Database,
  receiptIds: readonly string[],
  readsBodies = true,
): Promise<PendingReceipt[]> {
  return withBodies(await run<PendingRow>(database, READ_NEW, [ascending(receiptIds), readsBodies]));
}
