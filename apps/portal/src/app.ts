import type { IncomingMessage } from 'node:http';
import { isDeeperThan, Problem } from '@orders/domain';
import { mediaTypeOf } from '@orders/http';
import express, { type Express, Router } from 'express';
import helmet from 'helmet';
import { accountAuditRoutes, auditRoutes } from './audit/audit-routes.ts';
import { boundReplies } from './bound-replies.ts';
import { compressReplies } from './compress-replies.ts';
import type { PortalDeps } from './deps.ts';
import { integrationRoutes } from './integrations/integration-routes.ts';
import type { PortalMetrics } from './metrics.ts';
import { accountRoutes } from './operator/account-routes.ts';
import { queueBoard } from './operator/queue-board.ts';
import { serviceRoutes } from './operator/service-routes.ts';
import { userRoutes } from './operator/user-routes.ts';
import { overviewRoutes } from './overview/overview-routes.ts';
import { problemHandler } from './problem-handler.ts';
import { deadLetterRoutes } from './receipts/dead-letter-routes.ts';
import { receiptRoutes } from './receipts/receipt-routes.ts';
import { refuseCrossSite } from './refuse-cross-site.ts';
import { requireAccount, requireOperator, requireSession, signInFirst } from './require-session.ts';
import { reviewRoutes } from './review/review-routes.ts';
import { servePage } from './serve-page.ts';
import { signInRoutes } from './sign-in/sign-in-routes.ts';
import { startRequest } from './start-request.ts';

const QUEUE_BOARD = '/operator/queues';
/** Its page names its base, so that its files are found, and its notices bring one style, which is let in by its hash. */
const QUEUE_BOARD_POLICY = {
  baseUri: ["'self'"],
  styleSrc: ["'self'", "'sha256-r2N1TB/gHbBtBZFKg7ejmq1acVSREzucTAEw6ga4hoU='"],
};

/** As deep as an order may be. */
const MAX_DEPTH = 64;

/** The portal's HTTP interface and its page. What is below an account is for its holder and operators; to anybody else there is no such account. */
export function createApp(deps: PortalDeps, metrics: PortalMetrics): Express {
  const { auth, config, knex, logger } = deps;
  const isHttps = config.PORTAL_URL.startsWith('https:');
  const person = requireSession(auth);
  const sameSite = refuseCrossSite(config.PORTAL_URL);

  const ofAccount = Router();
  ofAccount.use(reviewRoutes(deps));
  ofAccount.use(accountAuditRoutes(deps));
  ofAccount.use(integrationRoutes(deps));
  ofAccount.use(receiptRoutes(deps), deadLetterRoutes(deps), overviewRoutes(deps));

  const ofOperator = Router();
  ofOperator.use(accountRoutes(deps), userRoutes(deps), serviceRoutes(deps), auditRoutes(deps));

  const api = Router();
  api.use((_request, response, next) => {
    response.setHeader('Cache-Control', 'no-store');
    next();
  });
  api.use(compressReplies(), boundReplies());
  // As bytes: they are read after sign-in is checked, and each route parses them just before it uses them.
  const body = (limit: string) => express.raw({ type: isJson, limit, verify: refuseDeep });
  api.use(sameSite);
  api.use('/accounts/:accountId', person, requireAccount(knex), body('64kb'), ofAccount);
  api.use('/operator', person, requireOperator, body('64kb'), ofOperator);
  // What anybody may send: an address, a name and a password or two.
  api.use(body('8kb'), signInRoutes(deps));
  api.use(() => {
    throw new Problem('not_found');
  });

  const app = express();
  app.disable('x-powered-by').disable('etag').set('trust proxy', config.TRUST_PROXY);
  app.use(startRequest({ logger, metrics }));
  app.use(securityHeaders(isHttps));
  app.use('/api', api);
  app.use(QUEUE_BOARD, securityHeaders(isHttps, QUEUE_BOARD_POLICY));
  app.use(QUEUE_BOARD, sameSite, signInFirst(auth, '/operator'), requireOperator, queueBoard(deps.queues, QUEUE_BOARD));
  app.use(servePage());
  app.use(problemHandler(logger));
  return app;
}

/** @throws {Problem} `malformed_body` for JSON in another charset than UTF-8. */
function isJson(request: IncomingMessage): boolean {
  if (mediaTypeOf(request) === 'application/json') return true;
  if (/^application\/json/i.test(request.headers['content-type'] ?? '')) throw new Problem('malformed_body');
  return false;
}

/** Nothing that is parsed is nested so deep that it could exhaust a stack. */
function refuseDeep(_request: unknown, _response: unknown, body: Buffer): void {
  if (isDeeperThan(MAX_DEPTH, body)) throw new Error('nested too deep');
}

/** Everything of a page comes from this service, as files: no inline script or style, no frame, no other host. */
function securityHeaders(isHttps: boolean, more: Record<string, string[]> = {}) {
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
        ...more,
      },
    },
    referrerPolicy: { policy: 'same-origin' },
    strictTransportSecurity: isHttps ? { maxAge: 31_536_000 } : false,
  });
}
