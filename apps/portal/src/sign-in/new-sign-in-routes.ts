import { listUnconfirmedSignIns, settleSignIn } from './unconfirmed-sign-ins.ts';
import { Router } from 'express';
import Joi from 'joi';
import { recordAboutSelf } from '../audit/record.ts';
import { personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { bodyOf, textIdOf } from '../read-request.ts';

/**
 * Sign-ins from unknown devices, about which the portal asks the user in every other session. Each can disown it. Only one that is older, or
 * has proved a second factor, can confirm it; after the answer of another one the question stays.
 */
export function newSignInRoutes({ knex }: PortalDeps): Router {
  const router = Router();
  router.get('/new-sign-ins', async (request, response) => {
    const { userId, sessionId } = personOf(request);
    response.json({ sign_ins: await listUnconfirmedSignIns(knex, userId, sessionId) });
  });
  router.post('/new-sign-ins/:sessionId', async (request, response) => {
    const { was_me: wasUser } = bodyOf<{ was_me: boolean }>(request, { was_me: Joi.boolean().strict().required() });
    const { userId, sessionId: own } = personOf(request);
    const sessionId = textIdOf(request.params.sessionId);
    await knex.transaction(async (trx) => {
      // A session must not confirm itself.
      if (sessionId === null || sessionId === own) return;
      if (!(await settleSignIn(trx, { sessionId, ownSessionId: own, userId, wasUser }))) return;
      await recordAboutSelf(trx, request, wasUser ? 'sign_in_confirmed' : 'sign_in_disowned');
    });
    response.status(204).end();
  });
  return router;
}
