import { type Database, faultOf, isReachable } from '@orders/database';

/** How work that failed goes on. */
interface Continuation<Item> {
  /** Works on a part; what fails there is isolated again. */
  each(part: readonly Item[]): Promise<unknown>;
  /** Handles the failure of a single item. */
  alone(item: Item): Promise<unknown>;
}

/**
 * Continues after work on several items failed: each half is worked on by itself, so that the item behind the failure ends up alone and
 * the others are not held up by it.
 *
 * @param items one at least.
 * @throws the failure itself when Postgres does not answer; else the first failure of a half, once both were tried.
 */
export async function isolateFailure<Item>(
  database: Database,
  items: readonly Item[],
  error: unknown,
  { each, alone }: Continuation<Item>,
): Promise<void> {
  if (faultOf(error) !== 'receipt' && !(await isReachable(database))) throw error;
  if (items.length === 1) {
    await alone(items[0] as Item);
    return;
  }
  const middle = Math.ceil(items.length / 2);
  await tryEach([items.slice(0, middle), items.slice(middle)], each);
}

/** Works on one after the other. @throws the first failure, once all were tried. */
export async function tryEach<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  const failures: unknown[] = [];
  for (const item of items) await work(item).catch((error) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
