import { acceptInvitation, findAccount, findInvitation, recordAudit } from '@orders/database';
import { Problem } from '@orders/domain';
import { Router } from 'express';
import Joi from 'joi';
import type { PortalDeps } from '../deps.ts';
import type { PortalMetrics } from '../metrics.ts';
import { bodyOf, plainText } from '../read-request.ts';
import { forwardCookies } from '../require-session.ts';
import { newPassword, openSession } from './open-session.ts';
import type { SignInRecord } from './record-sign-in.ts';

const token = Joi.string().max(100).required();

/** One-time links. Tokens come by POST, so that no URL contains one. */
export function invitationRoutes({ auth, knex }: PortalDeps, record: SignInRecord, metrics: PortalMetrics): Router {
  const router = Router();
  router.post('/invitations/look', async (request, response) => {
    const body = bodyOf<{ token: string }>(request, { token });
    const invitation = await findInvitation(knex, body.token);
    if (!invitation) throw new Problem('invitation_not_found');
    const { email, role, name, accountId } = invitation;
    const account = accountId === null ? null : await findAccount(knex, accountId);
    response.json({ email, role, name, account_name: account?.name ?? null });
  });
  router.post('/invitations/accept', async (request, response) => {
    const body = bodyOf<{ token: string; name: string; password: string }>(request, {
      token,
      name: plainText(200).trim().required(),
      password: newPassword,
    });
    // Hashing is CPU-intensive: check the token first.
    if (!(await findInvitation(knex, body.token))) throw new Problem('invitation_not_found');
    const hash = await (await auth.$context).password.hash(body.password);
    const { email, isNewOperator } = await knex.transaction(async (trx) => {
      const invitation = await acceptInvitation(trx, body.token, body.name, hash);
      if (!invitation) throw new Problem('invitation_not_found');
      const { accountId, role, email, isNewOperator } = invitation;
      const subject = `user:${email}`;
      await recordAudit(trx, { accountId, actor: email, action: 'invitation_accepted', subject, details: { role } });
      await record.signedIn(trx, request, email);
      return { email, isNewOperator };
    });
    if (isNewOperator) metrics.newOperators.inc();
    forwardCookies(await openSession(auth, request, email, body.password), response);
    response.status(204).end();
  });
  return router;
}
