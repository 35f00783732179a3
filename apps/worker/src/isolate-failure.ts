import type { Database } from '@orders/database/connect.ts';
import { faultOf } from '@orders/database/database-errors.ts';
import { isLockWaitOver } from '@orders/database/run.ts';
import { isReachable } from '@orders/database/schema-state.ts';

/** How to continue after a batch failed. */
interface Continuation<Item> {
  /** Retries one half of the batch. If the half fails, it must isolate the failure again. */
  retryHalf(half: readonly Item[]): Promise<unknown>;
  /** Handles the failing item, once it is the only one in its batch. */
  handleSingle(item: Item): Promise<unknown>;
}

/**
 * Finds the item that makes a batch fail: bisects the batch until the failing item is alone. The other items succeed.
 *
 * @param items at least one.
 * @throws the failure itself when Postgres is unavailable; otherwise the first failure of a half, after both were tried.
 */
export async function isolateFailure<Item>(
  database: Database,
  items: readonly Item[],
  error: unknown,
  { retryHalf, handleSingle }: Continuation<Item>,
): Promise<void> {
  const isAnswered = faultOf(error) === 'receipt' || isLockWaitOver(error);
  if (!isAnswered && !(await isReachable(database))) throw error;
  if (items.length === 1) {
    await handleSingle(items[0] as Item);
    return;
  }
  const middle = Math.ceil(items.length / 2);
  await tryEach([items.slice(0, middle), items.slice(middle)], retryHalf);
}

/** Processes the items in sequence. @throws the first failure, after all were tried. */
export async function tryEach<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  const failures: unknown[] = [];
  for (const item of items) await work(item).catch((error) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
