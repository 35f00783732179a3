import type { Knex } from 'knex';

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

function openChanges(db: Knex): Knex.QueryBuilder<OperatorChange, OperatorChange[]> {
  return db('operator_changes as c')
    .join('users as u', 'u.id', 'c.requested_by')
    .where('c.expires_at', '>', db.fn.now())
    .orderBy('c.change_id')
    .select('c.change_id', 'c.kind', 'c.email', 'c.target_user_id', 'c.requested_by as requested_by_id')
    .select('u.email as requested_by', 'c.requested_at', 'c.expires_at');
}

/** Open changes, oldest first. They end after 7 days. */
export async function listOperatorChanges(db: Knex): Promise<OperatorChange[]> {
  return openChanges(db);
}

/** Requests a change; returns an open request for the same change if there is one. */
export async function requestOperatorChange(
  db: Knex,
  {
    kind,
    email,
    targetUserId,
    userId,
  }: { kind: OperatorChangeKind; email: string; targetUserId: string | null; userId: string },
): Promise<{ change: OperatorChange; isNew: boolean }> {
  return db.transaction(async (trx) => {
    await trx('operator_changes').where('expires_at', '<=', trx.fn.now()).delete();
    const made = await trx('operator_changes')
      .insert({ kind, email, target_user_id: targetUserId, requested_by: userId })
      .onConflict(['email', 'kind'])
      .ignore()
      .returning('change_id');
    const [change] = await openChanges(trx).where('c.email', email).where('c.kind', kind);
    return { change: change as OperatorChange, isNew: made.length > 0 };
  });
}

/** Takes an open change out of the list, so that it is decided once; null if there is none. Must be called in a transaction. */
export async function takeOperatorChange(trx: Knex, changeId: number): Promise<OperatorChange | null> {
  await trx('operator_changes').where({ change_id: changeId }).forUpdate().select('change_id');
  const [change] = await openChanges(trx).where('c.change_id', changeId);
  if (change) await trx('operator_changes').where({ change_id: changeId }).delete();
  return change ?? null;
}

/** Whether there is an operator besides this user. */
export async function hasOtherOperator(db: Knex, userId: string): Promise<boolean> {
  return (await db('users').where({ role: 'operator' }).whereNot({ id: userId }).first('id')) !== undefined;
}
