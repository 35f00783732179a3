import { findAccount } from '@orders/database/accounts/accounts.ts';
import { recordAudit } from '@orders/database/audit.ts';
import { type Connection, inTransaction } from '@orders/database/run.ts';
import { acceptInvitation, findInvitation, type Invitation, joinAccount } from '@orders/database/users/invitations.ts';
import { Problem } from '@orders/domain/problems.ts';
import { Router } from 'express';
import Joi from 'joi';
import { contextOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { notifySecurityChange } from '../mail/notify-security-change.ts';
import type { PortalMetrics } from '../metrics.ts';
import { bodyOf, plainText } from '../read-request.ts';
import { completeSignIn } from './complete-sign-in.ts';
import { newPassword, openSession } from './open-session.ts';
import type { SignInRecord } from './record-sign-in.ts';
import { tryNewPassword } from './try-new-password.ts';

const token = Joi.string().max(100).required();

/** One-time links. Tokens come by POST, so that no URL contains one. */
export function invitationRoutes(deps: PortalDeps, record: SignInRecord, metrics: PortalMetrics): Router {
  const { hasher, database } = deps;
  const router = Router();
  router.post('/invitations/lookup', async (request, response) => {
    const body = bodyOf<{ token: string }>(request, { token });
    const invitation = await findInvitation(database, body.token);
    if (!invitation) throw new Problem('invitation_not_found');
    const { email, role, name, accountId, memberRole, setsPassword } = invitation;
    const account = accountId === null ? null : await findAccount(database, accountId);
    response.json({
      email,
      role,
      // An owner who opens a link that they made must not learn the name of the user.
      name: setsPassword ? name : null,
      account_name: account?.name ?? null,
      member_role: memberRole,
      sign_in_required: !setsPassword && name !== null,
    });
  });
  router.post('/invitations/accept', async (request, response) => {
    const body = bodyOf<{ token: string; name: string; password: string }>(request, {
      token,
      name: plainText(200).trim().required(),
      password: newPassword,
    });
    // Hashing is CPU-intensive: check the token first.
    const found = await findInvitation(database, body.token);
    if (!found) throw new Problem('invitation_not_found');
    if (!found.setsPassword && found.name !== null) throw new Problem('sign_in_to_accept');
    const account = found.accountId === null ? null : await findAccount(database, found.accountId);
    const owner = { email: found.email, name: body.name, accountNames: account ? [account.name] : [] };
    const requester = { key: found.email, isTrusted: true, signal: contextOf(request).closed };
    const { isNewOperator, step } = await hasher.admit(requester, async () => {
      await tryNewPassword(database, body.password, owner);
      const hash = await hasher.hash(body.password);
      const accepted = await inTransaction(database, async (transaction) => {
        const invitation = await acceptInvitation(transaction, body.token, body.name, hash);
        if (!invitation) throw new Problem('invitation_not_found');
        if (invitation === 'sign_in') throw new Problem('sign_in_to_accept');
        if (invitation === 'other_kind') throw new Problem('user_elsewhere');
        await recordAccepted(transaction, invitation);
        return invitation;
      });
      return { ...accepted, step: await openSession(deps, request, found.email, body.password) };
    });
    if (isNewOperator) metrics.newOperators.inc();
    if (found.name !== null) notifySecurityChange(deps, found, 'password_changed');
    await completeSignIn({ ...deps, record }, request, response, { method: 'password', byLink: true, ...step });
  });
  // For an existing user who is signed in.
  router.post('/invitations/join', async (request, response) => {
    const body = bodyOf<{ token: string }>(request, { token });
    const { accountId } = await inTransaction(database, async (transaction) => {
      const invitation = await joinAccount(transaction, body.token, personOf(request).userId);
      if (invitation === null) throw new Problem('invitation_not_found');
      if (invitation === 'other_user') throw new Problem('invitation_of_other_user');
      if (invitation === 'operator') throw new Problem('user_elsewhere');
      await recordAccepted(transaction, invitation);
      return invitation;
    });
    response.json({ account_id: accountId });
  });
  return router;
}

function recordAccepted(transaction: Connection, { email, accountId, role, memberRole }: Invitation): Promise<void> {
  const details = { role: memberRole ?? role };
  return recordAudit(transaction, {
    accountId,
    actor: email,
    action: 'invitation_accepted',
    subject: `user:${email}`,
    details,
  });
}
