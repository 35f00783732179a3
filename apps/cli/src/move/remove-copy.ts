import { execute, inTransaction, run } from '@orders/database/run.ts';
import { recordAccountAction } from '../audit.ts';
import { Failure } from '../errors.ts';
import { ofAccounts } from './copy-rows.ts';
import { alone, findMove, type Installations } from './move-account.ts';
import { COPIED, OF_PEOPLE, REPLICATED, SEARCH_TERMS } from './moved-tables.ts';

/** By the first two, senders are told the new address; dispatching systems may still read the third; the fourth is a chain. */
const KEPT: readonly string[] = ['api_keys', 'sources', 'cancellation_requests', 'audit_events'];

/**
 * Deletes what a moved account left here, table by table. Can be repeated.
 *
 * @returns the deleted rows by table.
 * @throws {Failure} if the account was not moved, or does not work in the other installation.
 */
export async function removeCopy(
  { source, target, report }: Installations,
  accountId: number,
): Promise<Record<string, number>> {
  return alone(source, accountId, async () => {
    const move = await findMove(source, accountId);
    if (move?.step !== 'done') throw new Failure('This account was not moved from here, or its move is not finished.');
    const mine = ofAccounts(move.account_ids);
    const open = await run(target, `select from accounts where ${mine} and moving_since is null`);
    if (open.length < move.account_ids.length)
      throw new Failure('TARGET_DATABASE_URL is not where the account is now.');
    const removed: Record<string, number> = {};
    for (const table of [...REPLICATED, ...COPIED, ...SEARCH_TERMS].filter((name) => !KEPT.includes(name))) {
      removed[table] = await execute(source, `delete from ${table} where ${mine}`);
      if (removed[table] > 0) report(`${table}: ${removed[table]} rows deleted`);
    }
    await inTransaction(source, async (transaction) => {
      const left = await run<{ user_id: string }>(transaction, `select user_id from memberships where ${mine}`);
      for (const table of OF_PEOPLE) removed[table] = await execute(transaction, `delete from ${table} where ${mine}`);
      removed.users = await execute(
        transaction,
        `delete from users u where id = any($1) and role = 'account_holder'
           and not exists (select from memberships m where m.user_id = u.id)`,
        [left.map(({ user_id }) => user_id)],
      );
      await recordAccountAction(transaction, accountId, 'account_moved', { copy_removed: true });
    });
    return removed;
  });
}
