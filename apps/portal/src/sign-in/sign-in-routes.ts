import { Problem } from '@orders/domain/problems.ts';
import { isAPIError } from 'better-auth/api';
import { fromNodeHeaders } from 'better-auth/node';
import { type Request, Router } from 'express';
import Joi from 'joi';
import { contextOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import type { PortalMetrics } from '../metrics.ts';
import { permissionsIn } from '../permissions.ts';
import { bodyOf } from '../read-request.ts';
import { forwardCookies, loadSession } from '../require-session.ts';
import { completeSignIn } from './complete-sign-in.ts';
import { confirmRoute } from './confirm-route.ts';
import { invitationRoutes } from './invitation-routes.ts';
import { newSignInRoutes } from './new-sign-in-routes.ts';
import { oidcRoutes } from './oidc/oidc-routes.ts';
import { openSession, rehashPassword, type SignInStep } from './open-session.ts';
import { passwordResetRoutes } from './password-reset-routes.ts';
import { profileRoutes } from './profile-routes.ts';
import { createSignInRecord } from './record-sign-in.ts';
import { secondFactorRoutes } from './second-factor-routes.ts';
import { describeSecondFactor } from './second-factor-state.ts';
import { secondStepRoutes } from './second-step-routes.ts';
import { createThrottle } from './throttle-sign-in.ts';

/** Sign-in, sign-out, the user's sessions and password, and one-time links. */
export function signInRoutes(deps: PortalDeps, metrics: PortalMetrics): Router {
  const { auth, config } = deps;
  const record = createSignInRecord(deps);
  const throttle = createThrottle(deps, record);
  const router = Router();

  router.get('/session', async (request, response) => {
    response.json(await describe(request));
  });
  router.post('/session', async (request, response) => {
    const { email, password } = bodyOf<{ email: string; password: string }>(request, {
      email: Joi.string().trim().lowercase().max(254).required(),
      password: Joi.string().max(128).required(),
    });
    let step: SignInStep = { cookies: new Headers(), secondStep: null };
    await throttle(request, email, async () => {
      try {
        step = await openSession(deps, request, email, password);
      } catch (error) {
        if (error instanceof Problem || (isAPIError(error) && error.statusCode < 500)) return false;
        throw error;
      }
      await rehashPassword(deps, { email, password });
      return true;
    });
    await completeSignIn({ ...deps, record }, request, response, { method: 'password', ...step });
  });
  router.delete('/session', async (request, response) => {
    await loadSession(deps, request, response).catch((error: unknown) => {
      if (!(error instanceof Problem && error.code === 'not_signed_in')) throw error;
    });
    const { headers } = await auth.api.signOut({ headers: fromNodeHeaders(request.headers), returnHeaders: true });
    const { person } = contextOf(request);
    if (person) await record.signedOut(person);
    forwardCookies(headers, response);
    response.status(204).end();
  });
  router.use(secondStepRoutes(deps, record), confirmRoute(deps, record, throttle), oidcRoutes(deps, record));
  router.use(profileRoutes(deps, throttle), secondFactorRoutes(deps, record), newSignInRoutes(deps));
  router.use(invitationRoutes(deps, record, metrics), passwordResetRoutes(deps, record));

  async function describe(request: Request) {
    const person = personOf(request);
    const { email, name, role, memberships } = person;
    const accounts = memberships.map((membership) => ({
      account_id: membership.accountId,
      name: membership.name,
      role: membership.role,
      suspended: membership.isSuspended,
      permissions: permissionsIn(person, membership),
    }));
    const [first] = accounts;
    return {
      email,
      name,
      role,
      accounts,
      // A page that was opened before an upgrade knows one account.
      account: first ? { account_id: first.account_id, name: first.name } : null,
      intake_url: config.INTAKE_URL,
      second_factor: await describeSecondFactor(deps, person),
    };
  }

  return router;
}
