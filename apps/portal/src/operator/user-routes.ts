import { findAccount } from '@orders/database/accounts/accounts.ts';
import { inTransaction } from '@orders/database/run.ts';
import { inviteUser } from '@orders/database/users/invite-user.ts';
import { MEMBER_ROLES, type MemberRole } from '@orders/database/users/memberships.ts';
import { resetSecondFactors } from '@orders/database/users/second-factors.ts';
import { endSessions } from '@orders/database/users/sessions.ts';
import { findUser, listUsers, removeUser, type User } from '@orders/database/users/users.ts';
import { Problem } from '@orders/domain/problems.ts';
import { type Request, type Response, Router } from 'express';
import Joi from 'joi';
import { recordAboutUser } from '../audit/record.ts';
import { NO_TRANSFORM } from '../compress-responses.ts';
import { personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { notifySecurityChange } from '../mail/notify-security-change.ts';
import { emailAddress, INVITATION_TTL_MS, invitationJson } from '../members/invitation-json.ts';
import { bodyOf, paginate, plainText, queryOf, smallId, textIdOf } from '../read-request.ts';
import { changeJson, changeOperator } from './operator-changes.ts';

const PAGE_SIZE = 100;

interface NewUser {
  email: string;
  account_id: number | null;
  role?: MemberRole;
}

/**
 * Lists, invites and removes users. A removed user's sessions end with the next request. A change to an operator may need the approval of
 * another one: then the reply is 202 with the requested change.
 */
export function userRoutes(deps: PortalDeps): Router {
  const { database, config } = deps;
  const router = Router();

  router.get('/users', async (request, response) => {
    const { account_id, after } = queryOf<{ account_id?: number; after?: string }>(request, {
      account_id: smallId,
      after: plainText(320),
    });
    const users = await listUsers(database, { accountId: account_id, after, limit: PAGE_SIZE + 1 });
    const { page, next } = paginate(users, PAGE_SIZE, ({ email }) => email);
    response.json({ users: page, next });
  });

  // Without an account, invites an operator. For an operator, and for a member of the account, the link sets a new password.
  router.post('/users', async (request, response) => {
    const { email, account_id, role } = bodyOf<NewUser>(request, {
      email: emailAddress,
      account_id: smallId.allow(null).required(),
      role: Joi.valid(...MEMBER_ROLES).when('account_id', { is: Joi.number(), otherwise: Joi.forbidden() }),
    });
    if (account_id === null) return inviteOperator(request, response, email);
    if (!(await findAccount(database, account_id))) throw new Problem('account_not_found');
    const invited = { email, role: 'account_holder', accountId: account_id, memberRole: role } as const;
    const invitation = await inviteUser(database, invited, personOf(request).email, INVITATION_TTL_MS);
    if (invitation === 'other_kind') throw new Problem('user_elsewhere');
    if (invitation === 'other_role') throw new Problem('already_member');
    response.status(201).set(NO_TRANSFORM).json(invitationJson(config.PORTAL_URL, invitation));
  });

  router.delete('/users/:userId', async (request, response) => {
    const user = await requireUser(request);
    if (user.user_id === personOf(request).userId) throw new Problem('own_user');
    if (user.role === 'operator') return change(request, response, 'remove', user);
    await removeUser(database, user.email, personOf(request).email);
    response.status(204).end();
  });

  router.delete('/users/:userId/sessions', async (request, response) => {
    const user = await requireUser(request);
    if (user.role === 'operator' && user.user_id !== personOf(request).userId)
      return change(request, response, 'end_sessions', user);
    await inTransaction(database, async (transaction) => {
      const details = { ended: await endSessions(transaction, user.user_id) };
      await recordAboutUser(transaction, request, user, 'sessions_ended', details);
    });
    response.status(204).end();
  });

  router.delete('/users/:userId/second-factors', async (request, response) => {
    const user = await requireUser(request);
    // Operators remove their own factors on the profile page, which asks for one of them.
    if (user.user_id === personOf(request).userId) throw new Problem('own_user');
    if (user.role === 'operator') return change(request, response, 'reset_second_factor', user);
    await resetSecondFactors(database, user.email, personOf(request).email);
    notifySecurityChange(deps, user, 'second_factor_removed');
    response.status(204).end();
  });

  async function inviteOperator(request: Request, response: Response, email: string): Promise<void> {
    const user = await findUser(database, email);
    if (user && user.role !== 'operator') throw new Problem('user_elsewhere');
    const kind = user ? 'reset_password' : 'invite';
    const outcome = await changeOperator(database, request, { kind, email, targetUserId: user?.user_id ?? null });
    if ('requested' in outcome) return void response.status(202).json(changeJson(outcome.requested));
    if (outcome.applied)
      response.status(201).set(NO_TRANSFORM).json(invitationJson(config.PORTAL_URL, outcome.applied));
  }

  async function change(
    request: Request,
    response: Response,
    kind: 'remove' | 'end_sessions' | 'reset_second_factor',
    { email, user_id }: User,
  ): Promise<void> {
    const outcome = await changeOperator(database, request, { kind, email, targetUserId: user_id });
    if ('requested' in outcome) response.status(202).json(changeJson(outcome.requested));
    else response.status(204).end();
  }

  async function requireUser(request: Request): Promise<User> {
    const userId = textIdOf(request.params.userId);
    const [user] = userId === null ? [] : await listUsers(database, { userId });
    if (!user) throw new Problem('user_not_found');
    return user;
  }

  return router;
}
