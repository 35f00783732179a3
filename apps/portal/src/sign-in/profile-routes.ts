import { type Credential, findCredential, setPassword } from '@orders/database/users/passwords.ts';
import { endSession, listSessions } from '@orders/database/users/sessions.ts';
import { Problem } from '@orders/domain/problems.ts';
import { Router } from 'express';
import Joi from 'joi';
import { recordAboutSelf } from '../audit/record.ts';
import { contextOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { notifySecurityChange } from '../mail/notify-security-change.ts';
import { bodyOf, textIdOf } from '../read-request.ts';
import { forwardCookies } from '../require-session.ts';
import { newPassword, replaceSession } from './open-session.ts';
import { lockSelf } from './second-factor-state.ts';
import type { Throttle } from './throttle-sign-in.ts';
import { tryNewPassword } from './try-new-password.ts';

/** The signed-in user's own sessions and password. */
export function profileRoutes(deps: PortalDeps, throttle: Throttle): Router {
  const { auth, devices, hasher, knex } = deps;
  const router = Router();
  router.get('/sessions', async (request, response) => {
    const { sessionId, userId } = personOf(request);
    const sessions = await listSessions(knex, userId);
    response.json({ sessions: sessions.map((session) => ({ ...session, current: session.session_id === sessionId })) });
  });
  router.delete('/sessions/:sessionId', async (request, response) => {
    const { userId } = personOf(request);
    const id = textIdOf(request.params.sessionId);
    await knex.transaction(async (trx) => {
      if (id !== null && (await endSession(trx, userId, id))) await recordAboutSelf(trx, request, 'session_ended');
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
      checked = await findCredential(knex, { userId });
      return checked !== null && hasher.verify({ hash: checked.passwordHash, password: body.current_password });
    });
    const requester = { key: userId, isTrusted: true, signal: contextOf(request).closed };
    const hash = await hasher.admit(requester, async () => {
      await tryNewPassword(knex, body.new_password, { email, name, accountNames }, '/new_password');
      return hasher.hash(body.new_password);
    });
    await knex.transaction(async (trx) => {
      await lockSelf(trx, person);
      const credential = await findCredential(trx, { userId });
      if (credential?.credentialId !== checked?.credentialId) throw new Problem('wrong_credentials');
      await setPassword(trx, userId, hash);
      await recordAboutSelf(trx, request, 'password_changed');
    });
    notifySecurityChange(deps, { email }, 'password_changed');
    // `setPassword` ended all sessions, this one too in case its cookie was stolen; open a new one.
    forwardCookies(await replaceSession(auth, request, person), response);
    await devices.rememberDevice(response, userId);
    response.status(204).end();
  });
  return router;
}
