import { findAccount } from '@orders/database';
import { Problem } from '@orders/domain';
import { isAPIError } from 'better-auth/api';
import { fromNodeHeaders } from 'better-auth/node';
import { type Request, Router } from 'express';
import Joi from 'joi';
import { contextOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import type { PortalMetrics } from '../metrics.ts';
import { bodyOf } from '../read-request.ts';
import { forwardCookies, loadSession, requireSession } from '../require-session.ts';
import { invitationRoutes } from './invitation-routes.ts';
import { openSession } from './open-session.ts';
import { profileRoutes } from './profile-routes.ts';
import { createSignInRecord } from './record-sign-in.ts';
import { tryPassword } from './throttle-sign-in.ts';

/** Sign-in, sign-out, the user's sessions and password, and invitations. */
export function signInRoutes(deps: PortalDeps, metrics: PortalMetrics): Router {
  const { auth, knex, config } = deps;
  const authenticate = requireSession(auth);
  const record = createSignInRecord(deps);
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
    await tryPassword({ knex, record }, request, email, async () => {
      try {
        cookies = await openSession(auth, request, email, password);
        return true;
      } catch (error) {
        if (!isAPIError(error) || error.statusCode >= 500) throw error;
        return false;
      }
    });
    await knex.transaction((trx) => record.signedIn(trx, request, email));
    forwardCookies(cookies, response);
    response.status(204).end();
  });
  router.delete('/session', async (request, response) => {
    await loadSession(auth, request, response).catch((error: unknown) => {
      if (!(error instanceof Problem && error.code === 'not_signed_in')) throw error;
    });
    const { headers } = await auth.api.signOut({ headers: fromNodeHeaders(request.headers), returnHeaders: true });
    const { person } = contextOf(request);
    if (person) await record.signedOut(person);
    forwardCookies(headers, response);
    response.status(204).end();
  });
  router.use(profileRoutes(deps, record, authenticate));
  router.use(invitationRoutes(deps, record, metrics));

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
