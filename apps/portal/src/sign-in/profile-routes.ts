import { endSession, findPasswordHash, listSessions, setPassword } from '@orders/database';
import { type RequestHandler, Router } from 'express';
import Joi from 'joi';
import { recordBy } from '../audit/record.ts';
import { personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { bodyOf, textIdOf } from '../read-request.ts';
import { forwardCookies } from '../require-session.ts';
import { newPassword, openSession } from './open-session.ts';
import type { SignInRecord } from './record-sign-in.ts';
import { tryPassword } from './throttle-sign-in.ts';

/** The signed-in user's own sessions and password. */
export function profileRoutes({ auth, knex }: PortalDeps, record: SignInRecord, authenticate: RequestHandler): Router {
  const router = Router();
  router.get('/sessions', authenticate, async (request, response) => {
    const { sessionId, userId } = personOf(request);
    const sessions = await listSessions(knex, userId);
    response.json({ sessions: sessions.map((session) => ({ ...session, current: session.session_id === sessionId })) });
  });
  router.delete('/sessions/:sessionId', authenticate, async (request, response) => {
    const { userId, email, accountId } = personOf(request);
    const id = textIdOf(request.params.sessionId);
    await knex.transaction(async (trx) => {
      if (id !== null && (await endSession(trx, userId, id)))
        await recordBy(trx, request, { accountId, action: 'session_ended', subject: `user:${email}` });
    });
    response.status(204).end();
  });
  router.post('/password', authenticate, async (request, response) => {
    const body = bodyOf<{ current_password: string; new_password: string }>(request, {
      current_password: Joi.string().max(128).required(),
      new_password: newPassword,
    });
    const { userId, email, accountId } = personOf(request);
    const { password } = await auth.$context;
    await tryPassword({ knex, record }, request, email, async () => {
      const hash = await findPasswordHash(knex, userId);
      return hash !== null && password.verify({ hash, password: body.current_password });
    });
    const hash = await password.hash(body.new_password);
    await knex.transaction(async (trx) => {
      await setPassword(trx, userId, hash);
      await recordBy(trx, request, { accountId, action: 'password_changed', subject: `user:${email}` });
    });
    // `setPassword` ended all sessions, this one too in case its cookie was stolen; open a new one.
    forwardCookies(await openSession(auth, request, email, body.new_password), response);
    response.status(204).end();
  });
  return router;
}
