import { type Connection, execute, inTransaction, run } from '@orders/database/run.ts';

/** A change that an operator can request for another one. */
export type OperatorChangeKind = 'invite' | 'reset_password' | 'remove' | 'end_sessions' | 'reset_second_factor';

/** A change to an operator that waits for an approval. */
export interface OperatorChange {
  change_id: number;
  kind: OperatorChangeKind;
  /** The operator whom it is about, or who is to become one. */
  email: string;
  target_user_id: string | null;
  /** The requester's user id and e-mail address. */
  requested_by_id: string;
  requested_by: string;
  requested_at: Date;
  expires_at: Date;
}

/** SQL: changes that have not ended. They do after 7 days. */
const OPEN = `
select c.change_id, c.kind, c.email, c.target_user_id, c.requested_by as requested_by_id, u.email as requested_by,
       c.requested_at, c.expires_at
from operator_changes c join users u on u.id = c.requested_by
where c.expires_at > now()`;

/** Open changes, oldest first. */
export async function listOperatorChanges(connection: Connection): Promise<OperatorChange[]> {
  return run<OperatorChange>(connection, `${OPEN} order by c.change_id`);
}

/** Requests a change; returns an open request for the same change if there is one. */
export async function requestOperatorChange(
  connection: Connection,
  requested: { kind: OperatorChangeKind; email: string; targetUserId: string | null; userId: string },
): Promise<{ change: OperatorChange; isNew: boolean }> {
  const { kind, email, targetUserId, userId } = requested;
  return inTransaction(connection, async (transaction) => {
    await execute(transaction, 'delete from operator_changes where expires_at <= now()');
    const made = await execute(
      transaction,
      `insert into operator_changes (kind, email, target_user_id, requested_by) values ($1, $2, $3, $4)
       on conflict (email, kind) do nothing`,
      [kind, email, targetUserId, userId],
    );
    const find = `${OPEN} and c.email = $1 and c.kind = $2`;
    const [change] = await run<OperatorChange>(transaction, find, [email, kind]);
    return { change: change as OperatorChange, isNew: made > 0 };
  });
}

/** Takes an open change out of the list, so that it is decided once; null if there is none. Must be called in a transaction. */
export async function takeOperatorChange(connection: Connection, changeId: number): Promise<OperatorChange | null> {
  await run(connection, 'select from operator_changes where change_id = $1 for update', [changeId]);
  const [change] = await run<OperatorChange>(connection, `${OPEN} and c.change_id = $1`, [changeId]);
  if (change) await execute(connection, 'delete from operator_changes where change_id = $1', [changeId]);
  return change ?? null;
}

/** Whether there is an operator besides this user. */
export async function hasOtherOperator(connection: Connection, userId: string): Promise<boolean> {
  const find = "select from users where role = 'operator' and id <> $1 limit 1";
  return (await run(connection, find, [userId])).length > 0;
}
