import type { Database } from '@orders/database/connect.ts';
import { firstUuidAt } from '@orders/database/receipts/uuids.ts';
import { execute, removeChunks, run } from '@orders/database/run.ts';

const HOUR_MS = 3_600_000;
/** For how long a test account keeps what was sent to it. */
export const TESTS_KEPT_MS = 7 * 24 * HOUR_MS;
/** How long after its receipt the write of a body can be. */
const WRITE_MS = 600_000;
/** Orders, and receipts, removed per statement: the audit trail waits for each. */
const CHUNK_SIZE = 200;

/**
 * Removes the orders and the final receipts of test accounts that are older than `keptMs` milliseconds. Receipts have no index by account:
 * each run reads the ids of those that came of age since the one before, an hour per statement. A receipt that is not final by then stays
 * until the retention of receipts.
 *
 * @param signal stops it between two statements; the next run goes on.
 * @returns the number of orders and receipts.
 */
export async function emptyTestAccounts(
  database: Database,
  keptMs: number = TESTS_KEPT_MS,
  signal?: AbortSignal,
): Promise<{ orders: number; receipts: number }> {
  const [clock] = await run<{ emptied_to: Date; before: Date }>(
    database,
    "select emptied_to, now() - $1 * interval '1 ms' as before from test_mode_clock",
    [keptMs],
  );
  if (!clock) throw new Error('test_mode_clock has no row');
  const remover = (statement: string, values: unknown[]) => async () => {
    const [row] = await run<{ removed: number }>(database, statement, [...values, CHUNK_SIZE]);
    return row?.removed ?? 0;
  };
  const removeOrders = remover('select remove_test_orders($1, $2) as removed', [clock.before]);
  const orders = await removeChunks(CHUNK_SIZE, removeOrders, signal);
  let receipts = 0;
  for (let from = clock.emptied_to.getTime(); from < clock.before.getTime(); ) {
    const to = Math.min(from + HOUR_MS, clock.before.getTime());
    const range = [firstUuidAt(from), firstUuidAt(to)];
    const removeReceipts = remover('select remove_test_receipts($1, $2, $3) as removed', range);
    receipts += await removeChunks(CHUNK_SIZE, removeReceipts, signal);
    if (signal?.aborted) break;
    await execute(database, 'select remove_test_payloads($1, $2, $3)', [...range, firstUuidAt(from - WRITE_MS)]);
    await execute(database, 'update test_mode_clock set emptied_to = $1 where emptied_to < $1', [new Date(to)]);
    from = to;
  }
  return { orders, receipts };
}
