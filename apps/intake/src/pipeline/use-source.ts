import type { Database } from '@orders/database/connect.ts';
import { run } from '@orders/database/run.ts';

const USE = {
  name: 'use-source',
  text: `
update sources set used_at = coalesce(used_at, now()) where account_id = $1::int and source_number = $2::int
returning id_prefix as "idPrefix"`,
};

/**
 * Marks a source as used, before it takes its first order or cancellation. Its prefix stays from then on: a change of it waits for this
 * statement or this statement for it.
 *
 * @returns the prefix.
 */
export async function useSource(database: Database, accountId: number, sourceNumber: number): Promise<string> {
  const [used] = await run<{ idPrefix: string }>(database, USE, [accountId, sourceNumber]);
  if (!used) throw new Error('sources are never deleted');
  return used.idPrefix;
}
