import { recordAudit } from '@orders/database/audit.ts';
import { type Connection, inTransaction } from '@orders/database/run.ts';
import { inviteUser } from '@orders/database/users/invite-user.ts';
import { resetSecondFactors } from '@orders/database/users/second-factors.ts';
import { endSessions } from '@orders/database/users/sessions.ts';
import { findUser, removeUser } from '@orders/database/users/users.ts';
import { Problem } from '@orders/domain/problems.ts';
import type { Request } from 'express';
import { recordBy } from '../audit/record.ts';
import { personOf } from '../context.ts';
import { INVITATION_TTL_MS } from '../members/invitation-json.ts';
import {
  hasOtherOperator,
  type OperatorChange,
  type OperatorChangeKind,
  requestOperatorChange,
} from './store-operator-changes.ts';

/** A change to an operator, by the one who requested it. */
export type ChangeToApply = Pick<OperatorChange, 'kind' | 'email' | 'target_user_id' | 'requested_by'>;

/** Only an invitation and a new password give a link. */
export type Applied = { email: string; token: string; setsNewPassword: boolean } | null;

const APPLY: Record<OperatorChangeKind, (transaction: Connection, change: ChangeToApply) => Promise<Applied>> = {
  invite,
  reset_password: invite,
  async remove(transaction, { email, requested_by }) {
    await removeUser(transaction, email, requested_by);
    return null;
  },
  async end_sessions(transaction, { email, target_user_id, requested_by }) {
    const ended = target_user_id === null ? 0 : await endSessions(transaction, target_user_id);
    const [subject, details] = [`user:${email}`, { ended }];
    await recordAudit(transaction, {
      accountId: null,
      actor: requested_by,
      action: 'sessions_ended',
      subject,
      details,
    });
    return null;
  },
  async reset_second_factor(transaction, { email, requested_by }) {
    await resetSecondFactors(transaction, email, requested_by);
    return null;
  },
};

async function invite(transaction: Connection, { kind, email, requested_by }: ChangeToApply): Promise<Applied> {
  // For somebody who became an operator meanwhile, the link would set a new password.
  if (kind === 'invite' && (await findUser(transaction, email))) throw new Problem('user_elsewhere');
  const invitation = await inviteUser(
    transaction,
    { email, role: 'operator', accountId: null },
    requested_by,
    INVITATION_TTL_MS,
  );
  if (typeof invitation === 'string') throw new Problem('user_elsewhere');
  return invitation;
}

/** Carries out a change to an operator, with its requester as actor. */
export function applyOperatorChange(transaction: Connection, change: ChangeToApply): Promise<Applied> {
  return APPLY[change.kind](transaction, change);
}

/**
 * Carries out a change to an operator at once if there is no other operator; otherwise requests it, with audit, for another one to approve.
 *
 * @param change.targetUserId null for somebody who is no user yet.
 * @throws {Problem} `own_user` if the only operator changes their own user.
 */
export async function changeOperator(
  database: Connection,
  request: Request,
  { kind, email, targetUserId }: { kind: OperatorChangeKind; email: string; targetUserId: string | null },
): Promise<{ applied: Applied } | { requested: OperatorChange }> {
  const { userId, email: requestedBy } = personOf(request);
  return inTransaction(database, async (transaction) => {
    if (!(await hasOtherOperator(transaction, userId))) {
      // Otherwise a stolen session could set a new password without the current one.
      if (targetUserId === userId) throw new Problem('own_user');
      const change = { kind, email, target_user_id: targetUserId, requested_by: requestedBy };
      return { applied: await applyOperatorChange(transaction, change) };
    }
    const { change, isNew } = await requestOperatorChange(transaction, { kind, email, targetUserId, userId });
    if (isNew) await recordChange(transaction, request, 'operator_change_requested', change);
    return { requested: change };
  });
}

export function recordChange(
  transaction: Connection,
  request: Request,
  action: string,
  { kind, email }: OperatorChange,
): Promise<void> {
  return recordBy(transaction, request, {
    accountId: null,
    action,
    subject: `user:${email}`,
    details: { change: kind },
  });
}

export function changeJson({ change_id, kind, email, requested_by, requested_at, expires_at }: OperatorChange): object {
  return { change_id, kind, email, requested_by, requested_at, expires_at };
}
