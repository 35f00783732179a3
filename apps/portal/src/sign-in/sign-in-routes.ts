import { acceptInvitation, findAccount, findInvitation, recordAudit } from '@orders/database';
import { Problem } from '@orders/domain';
import { isAPIError } from 'better-auth/api';
import { fromNodeHeaders } from 'better-auth/node';
import { type Request, type Response, Router } from 'express';
import Joi from 'joi';
import { personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { bodyOf } from '../read-body.ts';
import { requirePerson } from '../require-person.ts';
import { createGuessLimits } from './limit-guessing.ts';

const email = Joi.string().trim().lowercase().max(254).required();
/** As long as NIST SP 800-63B asks of a password without a second factor, give or take; any characters. */
const newPassword = Joi.string().min(12).max(128).required();
const token = Joi.string().max(100).required();

/** Signing in and out, the sessions of a person, and invitations. */
export function signInRoutes({ auth, knex, database, config }: PortalDeps): Router {
  const guesses = createGuessLimits(database.pool);
  const person = requirePerson(auth);

  async function signIn(request: Request, response: Response, address: string, password: string): Promise<void> {
    const network = request.ip ?? '';
    await guesses.refuseGuesser(address, network);
    try {
      const { headers } = await auth.api.signInEmail({
        body: { email: address, password },
        headers: fromNodeHeaders(request.headers),
        returnHeaders: true,
      });
      passCookies(headers, response);
    } catch (error) {
      if (!isAPIError(error) || error.statusCode >= 500) throw error;
      await guesses.countFailure(address, network);
      throw new Problem('wrong_credentials');
    }
    await guesses.forgetFailures(address);
  }

  const router = Router();
  router.get('/session', person, async (request, response) => {
    response.json(await describe(request));
  });
  router.post('/session', async (request, response) => {
    const given = bodyOf<{ email: string; password: string }>(request, {
      email,
      password: Joi.string().max(128).required(),
    });
    await signIn(request, response, given.email, given.password);
    response.status(204).end();
  });
  router.delete('/session', async (request, response) => {
    const { headers } = await auth.api.signOut({ headers: fromNodeHeaders(request.headers), returnHeaders: true });
    passCookies(headers, response);
    response.status(204).end();
  });

  router.get('/sessions', person, async (request, response) => {
    const { sessionId, userId } = personOf(request);
    const sessions = await knex('user_sessions')
      .where({ user_id: userId })
      .where('expires_at', '>', knex.fn.now())
      .orderBy('created_at', 'desc')
      .select('id as session_id', 'created_at', 'updated_at', 'user_agent');
    response.json({ sessions: sessions.map((one) => ({ ...one, current: one.session_id === sessionId })) });
  });
  router.delete('/sessions/:sessionId', person, async (request, response) => {
    const { userId } = personOf(request);
    await knex('user_sessions').where({ id: request.params.sessionId, user_id: userId }).delete();
    response.status(204).end();
  });
  router.post('/password', person, async (request, response) => {
    const given = bodyOf<{ current_password: string; new_password: string }>(request, {
      current_password: Joi.string().max(128).required(),
      new_password: newPassword,
    });
    await changePassword(request, response, given);
  });

  // By POST, so that no token is in an address.
  router.post('/invitations/look', async (request, response) => {
    const given = bodyOf<{ token: string }>(request, { token });
    const invitation = await findInvitation(knex, given.token);
    if (!invitation) throw new Problem('invitation_not_found');
    const account = invitation.accountId === null ? null : await findAccount(knex, invitation.accountId);
    response.json({ email: invitation.email, role: invitation.role, account_name: account?.name ?? null });
  });
  router.post('/invitations/accept', async (request, response) => {
    const given = bodyOf<{ token: string; name: string; password: string }>(request, {
      token,
      name: Joi.string().trim().max(200).required(),
      password: newPassword,
    });
    const { password } = await auth.$context;
    const hash = await password.hash(given.password);
    const invitation = await acceptInvitation(knex, given.token, given.name, hash);
    if (!invitation) throw new Problem('invitation_not_found');
    const { accountId, role } = invitation;
    await recordAudit(knex, {
      accountId,
      actor: invitation.email,
      action: 'invitation_accepted',
      subject: `user:${invitation.email}`,
      details: { role },
    });
    await signIn(request, response, invitation.email, given.password);
    response.status(204).end();
  });

  async function describe(request: Request) {
    const { email, name, role, accountId } = personOf(request);
    const account = accountId === null ? null : await findAccount(knex, accountId);
    return {
      email,
      name,
      role,
      account: account && { account_id: account.account_id, name: account.name },
      intake_url: config.INTAKE_URL,
    };
  }

  async function changePassword(
    request: Request,
    response: Response,
    given: { current_password: string; new_password: string },
  ): Promise<void> {
    const { email, accountId } = personOf(request);
    const network = request.ip ?? '';
    await guesses.refuseGuesser(email, network);
    try {
      const { headers } = await auth.api.changePassword({
        body: { currentPassword: given.current_password, newPassword: given.new_password, revokeOtherSessions: true },
        headers: fromNodeHeaders(request.headers),
        returnHeaders: true,
      });
      passCookies(headers, response);
    } catch (error) {
      if (!isAPIError(error) || error.statusCode >= 500) throw error;
      await guesses.countFailure(email, network);
      throw new Problem('wrong_credentials');
    }
    await recordAudit(knex, { accountId, actor: email, action: 'password_changed', subject: `user:${email}` });
    response.status(204).end();
  }

  return router;
}

function passCookies(from: Headers, response: Response): void {
  for (const cookie of from.getSetCookie()) response.append('Set-Cookie', cookie);
}
