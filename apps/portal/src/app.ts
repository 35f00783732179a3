import type { IncomingMessage } from 'node:http';
import { findAccountState } from '@orders/database/users/memberships.ts';
import { isDeeperThan } from '@orders/domain/parse-body.ts';
import { Problem } from '@orders/domain/problems.ts';
import { mediaTypeOf } from '@orders/http/check-media-type.ts';
import { limitResponseMemory } from '@orders/http/limit-response-memory.ts';
import type { RequestHandler } from 'express';
import express, { type Express, type Request, Router } from 'express';
import helmet from 'helmet';
import { accountAuditRoutes, auditRoutes } from './audit/audit-routes.ts';
import { checkRoutes } from './check-routes.ts';
import { COMPRESSOR_BYTES, compressResponses } from './compress-responses.ts';
import { accountIdOf, contextOf, NO_ACCOUNT_ID, personOf } from './context.ts';
import type { PortalDeps } from './deps.ts';
import { enforcePermissions } from './enforce-permissions.ts';
import { helpPages } from './help/help-pages.ts';
import { idempotentRequests } from './idempotent-requests.ts';
import { integrationRoutes } from './integrations/integration-routes.ts';
import { memberRoutes, secondFactorRoute } from './members/member-routes.ts';
import type { PortalMetrics } from './metrics.ts';
import { accountRoutes } from './operator/account-routes.ts';
import { changeRoutes } from './operator/change-routes.ts';
import { serviceRoutes } from './operator/service-routes.ts';
import { userRoutes } from './operator/user-routes.ts';
import { overviewRoutes } from './overview/overview-routes.ts';
import { permissionsIn, ROUTES } from './permissions.ts';
import { problemHandler } from './problem-handler.ts';
import { deadLetterRoutes } from './receipts/dead-letter-routes.ts';
import { receiptRoutes } from './receipts/receipt-routes.ts';
import { reviewRoutes } from './review/review-routes.ts';
import { servePage } from './serve-page.ts';
import { signInRoutes } from './sign-in/sign-in-routes.ts';
import { startRequest } from './start-request.ts';
import { limitUploads, uploadRoutes } from './uploads/upload-routes.ts';

const SAFE = new Set(['GET', 'HEAD']);

/**
 * CSRF protection in addition to `SameSite` cookies: changing requests must come from the portal's own origin. Browsers send `Origin` with
 * all of them, and pages cannot set it.
 *
 * @throws {Problem} `cross_site_request`.
 */
function requireSameOrigin(portalUrl: string): RequestHandler {
  const { origin } = new URL(portalUrl);
  return (request, _response, next) => {
    if (!SAFE.has(request.method) && request.get('origin') !== origin) throw new Problem('cross_site_request');
    next();
  };
}

/** Max bytes of unsent responses over all accounts. */
const MAX_UNSENT_BYTES = 134_217_728;

/** Max nesting of a JSON body; intake has the same limit for orders. */
const MAX_DEPTH = 64;

/** The portal's HTTP routes and its page. `permissions.ts` says who may use which route of the API. */
export function createApp(deps: PortalDeps, metrics: PortalMetrics): Express {
  const { config, logger } = deps;
  const isHttps = config.PORTAL_URL.startsWith('https:');
  const sameOrigin = requireSameOrigin(config.PORTAL_URL);

  const accountRouter = Router();
  accountRouter.use(accountRoute(deps), memberRoutes(deps), secondFactorRoute(deps), reviewRoutes(deps));
  accountRouter.use(accountAuditRoutes(deps));
  accountRouter.use(integrationRoutes(deps));
  accountRouter.use(uploadRoutes(deps));
  accountRouter.use(receiptRoutes(deps), deadLetterRoutes(deps), overviewRoutes(deps));

  const operatorRouter = Router();
  operatorRouter.use(accountRoutes(deps), userRoutes(deps), changeRoutes(deps));
  operatorRouter.use(serviceRoutes(deps), auditRoutes(deps));

  const api = Router();
  api.use((_request, response, next) => {
    response.setHeader('Cache-Control', 'no-store');
    next();
  });
  const accountOf = (request: Request) => contextOf(request).accountId ?? NO_ACCOUNT_ID;
  api.use(
    compressResponses(),
    limitResponseMemory({ maxBytes: MAX_UNSENT_BYTES, overheadBytes: COMPRESSOR_BYTES, accountOf }),
  );
  // Raw bytes, read after the check of permissions; each route parses them just before use.
  const rawBody = (limit: string) => express.raw({ type: isJson, limit, verify: rejectDeepNesting });
  api.use(sameOrigin, enforcePermissions(deps));
  // It takes a whole delivery.
  api.use('/accounts/:accountId/sources/preview', rawBody('384kb'));
  // A batch of a file, 1 MB before its quotation marks are escaped.
  api.use('/accounts/:accountId/uploads', limitUploads(), rawBody('2200kb'));
  api.use(['/accounts/:accountId', '/operator'], rawBody('64kb'));
  // Some need no session: an e-mail address, a name and passwords at most.
  api.use(rawBody('8kb'));
  const mounts = [
    { path: '/accounts/:accountId', router: accountRouter },
    { path: '/operator', router: operatorRouter },
    { path: '', router: signInRoutes(deps, metrics) },
  ];
  checkRoutes(ROUTES, mounts);
  const idempotent = idempotentRequests(deps);
  api.use(idempotent.begin);
  for (const { path, router } of mounts) api.use(path || '/', router);
  api.use(() => {
    throw new Problem('not_found');
  });
  api.use(idempotent.fail);

  const app = express();
  app.disable('x-powered-by').disable('etag').set('trust proxy', config.TRUST_PROXY);
  app.use(startRequest({ logger, metrics }));
  app.use(securityHeaders(isHttps));
  app.use('/api', api);
  app.use(helpPages());
  app.use(servePage(config.PORTAL_URL));
  app.use(problemHandler(logger));
  return app;
}

/** @throws {Problem} `malformed_body` for JSON in another charset than UTF-8. */
function isJson(request: IncomingMessage): boolean {
  if (mediaTypeOf(request) === 'application/json') return true;
  if (/^application\/json/i.test(request.headers['content-type'] ?? '')) throw new Problem('malformed_body');
  return false;
}

/** Deeply nested JSON could overflow the stack when parsed. */
function rejectDeepNesting(_request: unknown, _response: unknown, rawBody: Buffer): void {
  if (isDeeperThan(MAX_DEPTH, rawBody)) throw new Error('nested too deep');
}

/** Content comes as files from this origin only: no inline script or style, no frames, no other host. */
function securityHeaders(isHttps: boolean) {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        fontSrc: ["'self'"],
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

/** The account, and what the person may do in it. */
function accountRoute({ database, runShort }: PortalDeps): Router {
  const router = Router();

  router.get('/', async (request, response) => {
    const account = await runShort(request, () => findAccountState(database, accountIdOf(request)));
    if (!account) throw new Problem('account_not_found');
    const { accountId, name, isSuspended, isSecondFactorRequired, testOf } = account;
    const permissions = permissionsIn(personOf(request), account);
    response.json({
      account_id: accountId,
      name,
      suspended: isSuspended,
      second_factor_required: isSecondFactorRequired,
      test_of: testOf,
      permissions,
    });
  });

  return router;
}
