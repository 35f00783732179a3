import { Problem } from '@orders/domain/problems.ts';
import { type RequestHandler, Router } from 'express';
import Joi from 'joi';
import { contextOf, logFields } from '../../context.ts';
import type { PortalDeps } from '../../deps.ts';
import { bodyOf } from '../../read-request.ts';
import { completeSession } from '../complete-sign-in.ts';
import type { SignInRecord } from '../record-sign-in.ts';
import { createIdentityProvider } from './ask-provider.ts';
import { describeCauses } from './describe-causes.ts';
import { limitCallbacks } from './limit-callbacks.ts';
import { openIdentitySession } from './open-identity-session.ts';
import { createPendingCookie, MAX_PATH } from './pending-sign-in.ts';
import { RefusedIdentity } from './refusal.ts';
import { oidcSettingsOf } from './settings.ts';
import { toSignInPage } from './to-sign-in-page.ts';

const CALLBACK = '/session/oidc/callback';

/** Sign-in by the identity provider. */
export function oidcRoutes(deps: PortalDeps, record: SignInRecord): Router {
  const { config, knex, logger } = deps;
  const router = Router();
  const settings = oidcSettingsOf(config);
  router.get('/session/oidc', (_request, response) => {
    response.json({ name: settings?.OIDC_NAME ?? null });
  });
  if (!settings) {
    const isAbsent: RequestHandler = () => {
      throw new Problem('not_found');
    };
    return router.post('/session/oidc/start', isAbsent).get(CALLBACK, isAbsent);
  }

  const provider = createIdentityProvider(settings, `${config.PORTAL_URL}/api${CALLBACK}`);
  const cookie = createPendingCookie(config.PORTAL_URL);

  router.post('/session/oidc/start', async (request, response) => {
    const { path } = bodyOf<{ path: string }>(request, { path: Joi.string().max(MAX_PATH).default('/') });
    const pending = cookie.create(path);
    const url = await provider.startUrl(pending).catch((error: unknown) => {
      logger.warn('identity provider unavailable', { ...logFields(contextOf(request)), ...describeCauses(error) });
      throw new Problem('identity_provider_unavailable');
    });
    cookie.set(response, pending);
    // The page goes there itself: the Content-Security-Policy allows no form to lead to another host.
    response.json({ url });
  });

  const callback: RequestHandler = async (request, response) => {
    const pending = cookie.take(request, response);
    const query = URL.parse(request.originalUrl, config.PORTAL_URL)?.searchParams;
    if (!pending || query?.get('state') !== pending.state) throw new RefusedIdentity('expired');
    const cookies = await limitCallbacks(knex, { address: request.ip ?? '', state: pending.state }, async () => {
      const identity = await provider.identityOf(query, pending);
      return openIdentitySession(deps, request, identity, settings.OIDC_EMAIL_DOMAINS);
    });
    await completeSession({ ...deps, record }, request, response, { cookies, method: 'identity_provider' });
    response.redirect(303, config.PORTAL_URL + pending.path);
  };
  router.get(CALLBACK, callback);
  router.use(CALLBACK, toSignInPage(config.PORTAL_URL, logger, record));
  return router;
}
