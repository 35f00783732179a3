import { Problem } from '@orders/domain';
import express, { type Express, Router } from 'express';
import helmet from 'helmet';
import { beginRequest } from './begin-request.ts';
import type { PortalDeps } from './deps.ts';
import type { PortalMetrics } from './metrics.ts';
import { refuseCrossSite } from './refuse-cross-site.ts';
import { requireAccount, requireOperator, requirePerson } from './require-person.ts';
import { reviewRoutes } from './review/review-routes.ts';
import { sendProblems } from './send-problem.ts';
import { servePage } from './serve-page.ts';
import { signInRoutes } from './sign-in/sign-in-routes.ts';

/** The portal's HTTP interface and its page. What is below an account is for its holder and operators; to anybody else there is no such account. */
export function createApp(deps: PortalDeps, metrics: PortalMetrics): Express {
  const { auth, config, knex, logger } = deps;
  const isHttps = config.PORTAL_URL.startsWith('https:');
  const person = requirePerson(auth);

  const ofAccount = Router({ mergeParams: true });
  ofAccount.use(reviewRoutes(deps));

  const ofOperator = Router();

  const api = Router();
  api.use((_request, response, next) => {
    response.setHeader('Cache-Control', 'no-store');
    next();
  });
  api.use(refuseCrossSite(config.PORTAL_URL), express.json({ limit: '64kb' }));
  api.use(signInRoutes(deps));
  api.use('/accounts/:accountId', person, requireAccount(knex), ofAccount);
  api.use('/operator', person, requireOperator, ofOperator);
  api.use(() => {
    throw new Problem('not_found');
  });

  const app = express();
  app.disable('x-powered-by').disable('etag').set('trust proxy', 'loopback, uniquelocal');
  app.use(beginRequest({ logger, metrics }));
  app.use(securityHeaders(isHttps));
  app.use('/api', api);
  app.use(servePage());
  app.use(sendProblems(logger));
  return app;
}

/** Everything of a page comes from this service, as files: no inline script or style, no frame, no other host. */
function securityHeaders(isHttps: boolean) {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        connectSrc: ["'self'"],
        formAction: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    referrerPolicy: { policy: 'same-origin' },
    strictTransportSecurity: isHttps ? { maxAge: 31_536_000 } : false,
  });
}
