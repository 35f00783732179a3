import { acceptInvitation, findAccount, findInvitation, noteSignIn, recordAudit } from '@orders/database';
import { Problem } from '@orders/domain';
import { Router } from 'express';
import Joi from 'joi';
import type { PortalDeps } from '../deps.ts';
import { bodyOf, plainText } from '../read-request.ts';
import { passCookies } from '../require-session.ts';
import { newPassword, openSession } from './open-session.ts';

const token = Joi.string().max(100).required();

/** One-time links. Their tokens come by POST, so that none is in an address. */
export function invitationRoutes({ auth, knex }: PortalDeps): Router {
  const router = Router();
  router.post('/invitations/look', async (request, response) => {
    const given = bodyOf<{ token: string }>(request, { token });
    const invitation = await findInvitation(knex, given.token);
    if (!invitation) throw new Problem('invitation_not_found');
    const { email, role, name, accountId } = invitation;
    const account = accountId === null ? null : await findAccount(knex, accountId);
    response.json({ email, role, name, account_name: account?.name ?? null });
  });
  router.post('/invitations/accept', async (request, response) => {
    const given = bodyOf<{ token: string; name: string; password: string }>(request, {
      token,
      name: plainText(200).trim().required(),
      password: newPassword,
    });
    // To hash takes a processor a while; not for whoever has no link.
    if (!(await findInvitation(knex, given.token))) throw new Problem('invitation_not_found');
    const hash = await (await auth.$context).password.hash(given.password);
    const email = await knex.transaction(async (trx) => {
      const invitation = await acceptInvitation(trx, given.token, given.name, hash);
      if (!invitation) throw new Problem('invitation_not_found');
      const { accountId, role, email } = invitation;
      const subject = `user:${email}`;
      await recordAudit(trx, { accountId, actor: email, action: 'invitation_accepted', subject, details: { role } });
      await noteSignIn(trx, email);
      return email;
    });
    passCookies(await openSession(auth, request, email, given.password), response);
    response.status(204).end();
  });
  return router;
}
