import { isStorageUnavailable } from '@orders/database/database-errors.ts';
import { type Connection, inTransaction } from '@orders/database/run.ts';
import { resolveIdentity } from '@orders/database/users/identities.ts';
import { returnSignInAttempt, takeSignInAttempt } from '@orders/database/users/sign-in-attempts.ts';
import { Problem } from '@orders/domain/problems.ts';
import { describeError } from '@orders/runtime/observability/describe-error.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import { fromNodeHeaders } from 'better-auth/node';
import { type ErrorRequestHandler, type Request, type RequestHandler, Router } from 'express';
import Joi from 'joi';
import { contextOf, logFields } from '../../context.ts';
import type { PortalDeps } from '../../deps.ts';
import { bodyOf } from '../../read-request.ts';
import { boundsAround, digestOf, takeWithin } from '../attempt-bounds.ts';
import { completeSession } from '../complete-sign-in.ts';
import type { SignInRecord } from '../record-sign-in.ts';
import { createIdentityProvider } from './ask-provider.ts';
import { domainOf, type TokenIdentity } from './identity-of-token.ts';
import { createPendingCookie, MAX_PATH, PENDING_MS } from './pending-sign-in.ts';
import { RejectedIdentity } from './rejected-identity.ts';
import { oidcSettingsOf } from './settings.ts';

/** An error code of OAuth, such as `invalid_client`; any other text could contain personal data. */
const OAUTH_ERROR = /^[a-z_]{1,50}$/;

/** What the log may say about a failed call to the provider: classes and codes of the error and its causes, and the provider's error code. */
function describeCauses(error: unknown): { errors: object[]; provider_error?: string } {
  const chain: Error[] = [];
  for (let cause = error; Error.isError(cause) && chain.length < 5; cause = cause.cause) chain.push(cause);
  const code = chain.map((cause) => (cause as { error?: unknown }).error).find((text) => text !== undefined);
  return {
    errors: chain.map((cause) => describeError(cause)),
    ...(typeof code === 'string' && OAUTH_ERROR.test(code) && { provider_error: code }),
  };
}

const WINDOW_MS = 15 * 60_000;
/** Max callbacks from one network that fail within the window: each one makes the portal call the provider. */
const MAX_FAILURES = { narrow: 50, wide: 100, widest: 200 };

/**
 * Runs the rest of a callback, once for each sign-in and within the bounds of its networks. The callback is counted before it runs, and
 * uncounted when it succeeds.
 *
 * @throws {RejectedIdentity} `too_many_attempts`, or `expired` if the sign-in was completed before.
 */
async function limitCallbacks<T>(
  connection: Connection,
  { address, state }: { address: string; state: string },
  run: () => Promise<T>,
): Promise<T> {
  const bounds = boundsAround(address, MAX_FAILURES, 'identity provider');
  if (await takeWithin(connection, bounds, WINDOW_MS)) throw new RejectedIdentity('too_many_attempts');
  // The provider, too, accepts a code once only.
  const uses = await takeSignInAttempt(connection, digestOf('identity provider state', state), 2 * PENDING_MS);
  if (uses.attempts > 1) throw new RejectedIdentity('expired');
  const result = await run();
  for (const { key } of bounds) await returnSignInAttempt(connection, key);
  return result;
}

const CALLBACK = '/session/oidc/callback';

/** Sign-in by the identity provider. */
export function oidcRoutes(deps: PortalDeps, record: SignInRecord): Router {
  const { config, database, logger } = deps;
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
    if (!pending || query?.get('state') !== pending.state) throw new RejectedIdentity('expired');
    const cookies = await limitCallbacks(database, { address: request.ip ?? '', state: pending.state }, async () => {
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

/**
 * Opens a session for the user of an identity.
 *
 * @param domains the e-mail domains for which the provider is trusted.
 * @returns headers with the session cookie.
 * @throws {RejectedIdentity} `unknown`, `bound_otherwise` or `domain`.
 */
async function openIdentitySession(
  { auth, database }: Pick<PortalDeps, 'auth' | 'database'>,
  request: Request,
  identity: TokenIdentity,
  domains: readonly string[],
): Promise<Headers> {
  const { email, hasProvedSecondFactor, authenticatedAt } = identity;
  const user = await inTransaction(database, (transaction) => resolveIdentity(transaction, identity));
  if (typeof user === 'string') throw new RejectedIdentity(user, { email });
  // The address in the token may be another one by now, and the list of domains shorter.
  if (!domains.includes(domainOf(user.email))) throw new RejectedIdentity('domain', { email: user.email });
  const { headers } = await auth.api.openProvenSession({
    body: { userId: user.user_id, hasProvedSecondFactor, authenticatedAt },
    headers: fromNodeHeaders(request.headers),
    returnHeaders: true,
  });
  return headers;
}

/**
 * Redirects a failed callback to the sign-in page, which explains the reason. At the callback's address the person would see JSON.
 */
function toSignInPage(portalUrl: string, logger: Logger, record: SignInRecord): ErrorRequestHandler {
  return async (error, request, response, _next) => {
    const { reason, email, cause } =
      error instanceof RejectedIdentity ? error : new RejectedIdentity('failed', { cause: error });
    const context = contextOf(request);
    const logFailure = (failure: unknown) => {
      context.problem = isStorageUnavailable(failure) ? 'storage_unavailable' : 'internal_error';
      const isOurs = context.problem === 'internal_error';
      logger.log(isOurs ? 'error' : 'warn', 'request failed', {
        ...logFields(context),
        code: context.problem,
        error: describeError(failure, { stack: isOurs }),
      });
    };
    context.problem = `identity_${reason}`;
    if (reason === 'failed') logFailure(cause);
    if (reason === 'unavailable')
      logger.warn('identity provider unavailable', { ...logFields(context), ...describeCauses(cause) });
    if (reason === 'invalid')
      logger.warn('reply of the identity provider rejected', { ...logFields(context), ...describeCauses(cause) });
    if (email) await record.failed(request, email, { method: 'identity_provider', refused: reason }).catch(logFailure);
    response.redirect(303, `${portalUrl}/?identity_provider=${reason}`);
  };
}
