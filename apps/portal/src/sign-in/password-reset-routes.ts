import { listMemberships } from '@orders/database/users/memberships.ts';
import { createPasswordReset, findPasswordReset, usePasswordReset } from './password-resets.ts';
import { findUser } from '@orders/database/users/users.ts';
import { parseEmailAddress } from '@orders/domain/email-address.ts';
import { Problem } from '@orders/domain/problems.ts';
import { Router } from 'express';
import Joi from 'joi';
import { contextOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { notifySecurityChange } from '../mail/notify-security-change.ts';
import { writeMail } from '../mail/write-mail.ts';
import { bodyOf, plainText } from '../read-request.ts';
import { countReset, limitResets, RESET_WINDOW_MS } from './limit-resets.ts';
import { newPassword } from './open-session.ts';
import type { SignInRecord } from './record-sign-in.ts';
import { tryNewPassword } from './try-new-password.ts';

const token = Joi.string().max(100).required();

/** One address; line breaks, which a mail's header must not get, are refused before it is trimmed. */
const emailAddress = plainText(254)
  .custom((text: string) => {
    const address = parseEmailAddress(text);
    if (address === null) throw new Error('not an address');
    return address;
  })
  .message('{{#label}} must be one e-mail address')
  .required();

/** A new password by a link that is mailed to the user. Tokens come by POST, so that no URL contains one. */
export function passwordResetRoutes(deps: PortalDeps, record: SignInRecord): Router {
  const { devices, hasher, knex, mails, config } = deps;
  const router = Router();

  /** Runs after the reply, so that the reply cannot tell whether the address is a user's. */
  async function writeLink(email: string, network: string) {
    if (!(await countReset(knex, email, network))) return null;
    const user = await findUser(knex, email);
    if (!user) {
      await record.resetOfNobody(network, email);
      return null;
    }
    const made = await knex.transaction(async (trx) => {
      await record.resetRequested(trx, network, user.email);
      return createPasswordReset(trx, user.user_id, RESET_WINDOW_MS);
    });
    const link = `${config.PORTAL_URL}/new-password#${made}`;
    return writeMail(user.email, { kind: 'password_reset', at: new Date(), link }, config.PORTAL_URL);
  }

  router.get('/password-resets', (_request, response) => {
    response.json({ is_available: mails.isEnabled });
  });
  router.post('/password-resets', async (request, response) => {
    const { email } = bodyOf<{ email: string }>(request, { email: emailAddress });
    if (!mails.isEnabled) throw new Problem('mail_not_configured');
    await limitResets(knex, request);
    // Once a request has ended, its address is unknown.
    const network = record.networkOf(request);
    mails.send('password_reset', () => writeLink(email, network));
    response.status(202).end();
  });
  router.post('/password-resets/look', async (request, response) => {
    const body = bodyOf<{ token: string }>(request, { token });
    const reset = await findPasswordReset(knex, body.token);
    if (!reset) throw new Problem('reset_not_found');
    response.json({ email: reset.email });
  });
  // The user signs in as usual afterwards, so the link does not replace a second factor.
  router.post('/password-resets/use', async (request, response) => {
    const body = bodyOf<{ token: string; password: string }>(request, { token, password: newPassword });
    // Hashing is CPU-intensive: check the token first.
    const reset = await findPasswordReset(knex, body.token);
    if (!reset) throw new Problem('reset_not_found');
    const accountNames = (await listMemberships(knex, reset.userId)).map(({ name }) => name);
    const requester = { key: reset.userId, isTrusted: true, signal: contextOf(request).closed };
    const hash = await hasher.admit(requester, async () => {
      await tryNewPassword(knex, body.password, { ...reset, accountNames });
      return hasher.hash(body.password);
    });
    await knex.transaction(async (trx) => {
      const used = await usePasswordReset(trx, body.token, hash);
      if (!used) throw new Problem('reset_not_found');
      await record.passwordReset(trx, request, used.email);
    });
    notifySecurityChange(deps, reset, 'password_changed');
    await devices.rememberDevice(response, reset.userId);
    response.status(204).end();
  });
  return router;
}
