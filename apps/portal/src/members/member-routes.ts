import { inTransaction } from '@orders/database/run.ts';
import { inviteAgain, inviteMember } from '@orders/database/users/invite-user.ts';
import {
  changeMemberRole,
  listMembers,
  MEMBER_ROLES,
  type Member,
  type MemberRejection,
  type MemberRole,
  removeMember,
} from '@orders/database/users/memberships.ts';
import { listPendingInvitations, withdrawInvitations } from '@orders/database/users/pending-invitations.ts';
import { setSecondFactorRequired } from '@orders/database/users/second-factors.ts';
import { Problem } from '@orders/domain/problems.ts';
import { type Request, Router } from 'express';
import Joi from 'joi';
import { recordBy } from '../audit/record.ts';
import { NO_TRANSFORM } from '../compress-responses.ts';
import { accountIdOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { bodyOf, idOf, MAX_SMALL_ID, paginate, plainText, queryOf, textIdOf } from '../read-request.ts';
import { emailAddress, INVITATION_TTL_MS, invitationJson } from './invitation-json.ts';

const PAGE_SIZE = 100;

const memberRole = Joi.valid(...MEMBER_ROLES).required();

/** The members of an account, and who is invited, for its owners. Only an operator may leave an account without an owner. */
export function memberRoutes({ database, config, runShort }: PortalDeps): Router {
  const router = Router();

  router.get('/users', async (request, response) => {
    const { after } = queryOf<{ after?: string }>(request, { after: plainText(320) });
    const members = await runShort(request, () =>
      listMembers(database, accountIdOf(request), { after, limit: PAGE_SIZE + 1 }),
    );
    const { page, next } = paginate(members, PAGE_SIZE, ({ email }) => email);
    response.json({ users: page, next });
  });

  router.post('/users', async (request, response) => {
    const { email, role } = bodyOf<{ email: string; role: MemberRole }>(request, {
      email: emailAddress,
      role: memberRole,
    });
    const invited = { email, accountId: accountIdOf(request), memberRole: role };
    const token = await runShort(request, () =>
      inviteMember(database, invited, personOf(request).email, INVITATION_TTL_MS),
    );
    if (token === null) throw new Problem('already_member');
    response
      .status(201)
      .set(NO_TRANSFORM)
      .json(invitationJson(config.PORTAL_URL, { email, token, setsNewPassword: false }));
  });

  router.patch('/users/:userId', async (request, response) => {
    const { role } = bodyOf<{ role: MemberRole }>(request, { role: memberRole });
    const change = { ...changeOf(request), role };
    response.json(changed(await runShort(request, () => changeMemberRole(database, change))));
  });

  router.delete('/users/:userId', async (request, response) => {
    changed(await runShort(request, () => removeMember(database, changeOf(request))));
    response.status(204).end();
  });

  router.get('/invitations', async (request, response) => {
    const pending = await runShort(request, () => listPendingInvitations(database, accountIdOf(request)));
    response.json({ invitations: pending });
  });

  router.post('/invitations/:invitationId/again', async (request, response) => {
    const which = invitationOf(request);
    const again = await runShort(request, () =>
      inviteAgain(database, which, personOf(request).email, INVITATION_TTL_MS),
    );
    if (again === 'not_pending') throw new Problem('invitation_not_found');
    if (again === 'already_member') throw new Problem('already_member');
    response
      .status(201)
      .set(NO_TRANSFORM)
      .json(invitationJson(config.PORTAL_URL, { ...again, setsNewPassword: false }));
  });

  router.delete('/invitations/:invitationId', async (request, response) => {
    const { accountId, invitationId } = invitationOf(request);
    const which = { account_id: accountId, invitation_id: invitationId };
    const withdrawn = await runShort(request, () => withdrawInvitations(database, which, personOf(request).email));
    if (withdrawn.length === 0) throw new Problem('invitation_not_found');
    response.status(204).end();
  });

  return router;
}

function invitationOf(request: Request) {
  const invitationId = idOf(request.params.invitationId, MAX_SMALL_ID);
  if (invitationId === null) throw new Problem('invitation_not_found');
  return { accountId: accountIdOf(request), invitationId };
}

function changeOf(request: Request) {
  const userId = textIdOf(request.params.userId);
  if (userId === null) throw new Problem('user_not_found');
  const { email, role } = personOf(request);
  return { accountId: accountIdOf(request), userId, actor: email, keepsOwner: role !== 'operator' };
}

function changed(outcome: Member | MemberRejection): Member {
  if (outcome === 'not_member') throw new Problem('user_not_found');
  if (outcome === 'last_owner') throw new Problem('last_owner');
  return outcome;
}

/** Whether the members of an account need a second factor. Applies to open sessions too. */
export function secondFactorRoute({ database, runShort }: PortalDeps): Router {
  const router = Router();

  router.put('/second-factor', async (request, response) => {
    const { required } = bodyOf<{ required: boolean }>(request, { required: Joi.boolean().strict().required() });
    const accountId = accountIdOf(request);
    await runShort(request, () =>
      inTransaction(database, async (transaction) => {
        if (!(await setSecondFactorRequired(transaction, accountId, required))) return;
        const [subject, details] = [`account:${accountId}`, { required }];
        await recordBy(transaction, request, {
          accountId,
          action: 'second_factor_requirement_changed',
          subject,
          details,
        });
      }),
    );
    response.json({ required });
  });

  return router;
}
