import { findAccount, noteSignIn } from '@orders/database';
import { isAPIError } from 'better-auth/api';
import { fromNodeHeaders } from 'better-auth/node';
import { type Request, Router } from 'express';
import Joi from 'joi';
import { personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { bodyOf } from '../read-request.ts';
import { forwardCookies, requireSession } from '../require-session.ts';
import { invitationRoutes } from './invitation-routes.ts';
import { openSession } from './open-session.ts';
import { profileRoutes } from './profile-routes.ts';
import { tryPassword } from './throttle-sign-in.ts';

/** Sign-in, sign-out, the user's sessions and password, and invitations. */
export function signInRoutes(deps: PortalDeps): Router {
  const { auth, knex, config } = deps;
  const authenticate = requireSession(auth);
  const router = Router();

  router.get('/session', authenticate, async (request, response) => {
    response.json(await describe(request));
  });
  router.post('/session', async (request, response) => {
    const { email, password } = bodyOf<{ email: string; password: string }>(request, {
      email: Joi.string().trim().lowercase().max(254).required(),
      password: Joi.string().max(128).required(),
    });
    let cookies = new Headers();
    await tryPassword(knex, { email, network: request.ip ?? '' }, async () => {
      try {
        cookies = await openSession(auth, request, email, password);
        return true;
      } catch (error) {
        if (!isAPIError(error) || error.statusCode >= 500) throw error;
        return false;
      }
    });
    await noteSignIn(knex, email);
    forwardCookies(cookies, response);
    response.status(204).end();
  });
  router.delete('/session', async (request, response) => {
    const { headers } = await auth.api.signOut({ headers: fromNodeHeaders(request.headers), returnHeaders: true });
    forwardCookies(headers, response);
    response.status(204).end();
  });
  router.use(profileRoutes(deps, authenticate));
  router.use(invitationRoutes(deps));

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

  return router;
}
