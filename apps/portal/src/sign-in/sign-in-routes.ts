import { inTransaction } from '@orders/database/run.ts';
import { type Credential, findCredential, setPassword } from '@orders/database/users/passwords.ts';
import { endSession, listSessions } from '@orders/database/users/sessions.ts';
import { Problem } from '@orders/domain/problems.ts';
import { isAPIError } from 'better-auth/api';
import { fromNodeHeaders } from 'better-auth/node';
import { type Request, Router } from 'express';
import Joi from 'joi';
import { recordAboutSelf } from '../audit/record.ts';
import { contextOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { notifySecurityChange } from '../mail/notify-security-change.ts';
import type { PortalMetrics } from '../metrics.ts';
import { permissionsIn } from '../permissions.ts';
import { bodyOf, textIdOf } from '../read-request.ts';
import { forwardCookies, loadSession } from '../require-session.ts';
import { completeSignIn } from './complete-sign-in.ts';
import { confirmRoute } from './confirm-route.ts';
import { invitationRoutes } from './invitation-routes.ts';
import { oidcRoutes } from './oidc/oidc-routes.ts';
import { newPassword, openSession, rehashPassword, replaceSession, type SignInStep } from './open-session.ts';
import { passwordResetRoutes } from './password-reset-routes.ts';
import { createSignInRecord } from './record-sign-in.ts';
import { secondFactorRoutes } from './second-factor-routes.ts';
import { describeSecondFactor, lockSelf } from './second-factor-state.ts';
import { secondStepRoutes } from './second-step-routes.ts';
import { createThrottle, type Throttle } from './throttle-sign-in.ts';
import { tryNewPassword } from './try-new-password.ts';
import { listUnconfirmedSignIns, settleSignIn } from './unconfirmed-sign-ins.ts';

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
      move: membership.move,
      permissions: permissionsIn(person, membership),
      test_of: membership.testOf,
    }));
    return {
      email,
      name,
      role,
      accounts,
      intake_url: config.INTAKE_URL,
      second_factor: await describeSecondFactor(deps, person),
    };
  }

  return router;
}

/**
 * Sign-ins from unknown devices, about which the portal asks the user in every other session. Each can disown it. Only one that is older, or
 * has proved a second factor, can confirm it; after the answer of another one the question stays.
 */
function newSignInRoutes({ database }: PortalDeps): Router {
  const router = Router();
  router.get('/new-sign-ins', async (request, response) => {
    const { userId, sessionId } = personOf(request);
    response.json({ sign_ins: await listUnconfirmedSignIns(database, userId, sessionId) });
  });
  router.post('/new-sign-ins/:sessionId', async (request, response) => {
    const { was_me: wasUser } = bodyOf<{ was_me: boolean }>(request, { was_me: Joi.boolean().strict().required() });
    const { userId, sessionId: own } = personOf(request);
    const sessionId = textIdOf(request.params.sessionId);
    await inTransaction(database, async (transaction) => {
      // A session must not confirm itself.
      if (sessionId === null || sessionId === own) return;
      if (!(await settleSignIn(transaction, { sessionId, ownSessionId: own, userId, wasUser }))) return;
      await recordAboutSelf(transaction, request, wasUser ? 'sign_in_confirmed' : 'sign_in_disowned');
    });
    response.status(204).end();
  });
  return router;
}

/** The signed-in user's own sessions and password. */
function profileRoutes(deps: PortalDeps, throttle: Throttle): Router {
  const { auth, devices, hasher, database } = deps;
  const router = Router();
  router.get('/sessions', async (request, response) => {
    const { sessionId, userId } = personOf(request);
    const sessions = await listSessions(database, userId);
    response.json({ sessions: sessions.map((session) => ({ ...session, current: session.session_id === sessionId })) });
  });
  router.delete('/sessions/:sessionId', async (request, response) => {
    const { userId } = personOf(request);
    const id = textIdOf(request.params.sessionId);
    await inTransaction(database, async (transaction) => {
      if (id !== null && (await endSession(transaction, userId, id)))
        await recordAboutSelf(transaction, request, 'session_ended');
    });
    response.status(204).end();
  });
  router.post('/password', async (request, response) => {
    const body = bodyOf<{ current_password: string; new_password: string }>(request, {
      current_password: Joi.string().max(128).required(),
      new_password: newPassword,
    });
    const person = personOf(request);
    const { userId, email, name, memberships } = person;
    const accountNames = memberships.map((membership) => membership.name);
    let checked: Credential | null = null;
    await throttle(request, email, async () => {
      checked = await findCredential(database, { userId });
      return checked !== null && hasher.verify({ hash: checked.passwordHash, password: body.current_password });
    });
    const requester = { key: userId, isTrusted: true, signal: contextOf(request).closed };
    const hash = await hasher.admit(requester, async () => {
      await tryNewPassword(database, body.new_password, { email, name, accountNames }, '/new_password');
      return hasher.hash(body.new_password);
    });
    await inTransaction(database, async (transaction) => {
      await lockSelf(transaction, person);
      const credential = await findCredential(transaction, { userId });
      if (credential?.credentialId !== checked?.credentialId) throw new Problem('wrong_credentials');
      await setPassword(transaction, userId, hash);
      await recordAboutSelf(transaction, request, 'password_changed');
    });
    notifySecurityChange(deps, { email }, 'password_changed');
    // `setPassword` ended all sessions, this one too in case its cookie was stolen; open a new one.
    forwardCookies(await replaceSession(auth, request, person), response);
    await devices.rememberDevice(response, userId);
    response.status(204).end();
  });
  return router;
}
