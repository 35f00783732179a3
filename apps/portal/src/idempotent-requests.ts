import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { seal, tryToUnseal } from '@orders/database/accounts/seal.ts';
import { isRolledBack } from '@orders/database/database-errors.ts';
import {
  claimRequest,
  type EarlierRequest,
  releaseRequest,
  settleRequest,
} from '@orders/database/users/portal-requests.ts';
import { Problem } from '@orders/domain/problems.ts';
import { secretsKeysOf } from '@orders/runtime/config/settings.ts';
import { describeError } from '@orders/runtime/observability/describe-error.ts';
import type { ErrorRequestHandler, NextFunction, Request, RequestHandler, Response } from 'express';
import { NO_TRANSFORM } from './compress-responses.ts';
import { contextOf, personOf } from './context.ts';
import type { PortalDeps } from './deps.ts';
import { ClientDisconnectedError } from './fair-limiter.ts';
import { asProblem } from './problem-handler.ts';
import { UUID } from './read-request.ts';

/** Bytes of the longest response that is kept for a repetition. */
const MAX_REPLY_BYTES = 65_536;
/** How long a repetition waits for the request that is carried out, and how often it asks, in milliseconds. */
const WAIT_MS = 10_000;
const POLL_MS = 100;
/** A request that has not ended after this many milliseconds: its process may have crashed. */
const LOST_MS = 60_000;
/** With a 5xx the client repeats it under the same key. */
const STILL_RUNNING = 'This request is still being carried out. Send it again in a moment.';

/**
 * Carries out a changing request of a user once, however often it is sent with the same `Idempotency-Key` (a UUID): to any portal, also at
 * the same time. A repetition gets the same response. A request that was rejected changed nothing and can be sent again.
 *
 * `begin` needs the person and the raw body. `fail` comes after the routes.
 *
 * @throws {Problem} `invalid_idempotency_key`, also for a key with which something else was requested; `already_done` if the response is
 * too old or too long to be kept; `outcome_unknown`; `overloaded` while the first one is still carried out.
 */
export function idempotentRequests(deps: PortalDeps): { begin: RequestHandler; fail: ErrorRequestHandler } {
  const { database, config, logger, runShort } = deps;
  const keys = secretsKeysOf(config);

  /** @returns whether the request is to be carried out. */
  async function begin(request: Request, response: Response, next: NextFunction): Promise<boolean> {
    const requestId = request.get('Idempotency-Key')?.toLowerCase();
    const context = contextOf(request);
    if (requestId === undefined || !context.isChange) return true;
    if (!UUID.test(requestId))
      throw new Problem('invalid_idempotency_key', { detail: 'An Idempotency-Key is a UUID.' });
    const claim = { userId: personOf(request).userId, requestId };
    const content = contentOf(request, config.SECRETS_KEY);
    const giveUpAt = performance.now() + WAIT_MS;
    for (;;) {
      const earlier = await runShort(request, () => claimRequest(database, claim, content));
      if (!earlier) break;
      if (!earlier.content.equals(content))
        throw new Problem('invalid_idempotency_key', {
          detail: 'Something else was requested with this Idempotency-Key.',
        });
      if (earlier.status !== null) {
        repeat(earlier, ownerOf(claim), response);
        return false;
      }
      if (earlier.age > LOST_MS) throw new Problem('outcome_unknown');
      if (performance.now() > giveUpAt) throw new Problem('overloaded', { detail: STILL_RUNNING });
      await sleep(POLL_MS);
      context.closed.throwIfAborted();
    }
    context.claim = claim;
    settleAtEnd(request, response, next);
    return true;
  }

  /** Stores the response before it is sent, also if its client has disconnected: a repetition gets it. */
  function settleAtEnd(request: Request, response: Response, next: NextFunction): void {
    const context = contextOf(request);
    const json = response.json.bind(response);
    const end = response.end.bind(response) as () => Response;
    const settle = async (body: string | null) => {
      const { claim } = context;
      delete context.claim;
      if (!claim) return;
      const isKept = body !== null && Buffer.byteLength(body) <= MAX_REPLY_BYTES;
      const reply = isKept ? seal(keys, ownerOf(claim), body) : null;
      await store(settleRequest(database, claim, { status: response.statusCode, reply }));
    };
    response.json = (value) => {
      settle(JSON.stringify(value))
        .then(() => json(value))
        .catch(next);
      return response;
    };
    response.end = ((...body: []) => {
      if (!context.claim || response.statusCode !== 204) return end(...body);
      settle(null)
        .then(() => end())
        .catch(next);
      return response;
    }) as typeof response.end;
  }

  /** Without it a repetition is told that the outcome is unknown; it is no reason to tell that to this client. */
  async function store(storing: Promise<void>): Promise<void> {
    await storing.catch((error: unknown) =>
      logger.warn('the outcome of a request was not stored', { error: describeError(error) }),
    );
  }

  function repeat({ status, reply }: EarlierRequest, owner: `request ${string}`, response: Response): void {
    if (status === null || status >= 500) throw new Problem('outcome_unknown');
    response.set('Idempotent-Replayed', 'true').status(status);
    const text = reply && tryToUnseal(keys, owner, reply);
    if (status === 204) response.end();
    else if (text) response.set(NO_TRANSFORM).type('json').send(text);
    else throw new Problem('already_done');
  }

  return {
    async begin(request, response, next) {
      if (await begin(request, response, next)) next();
    },
    async fail(error, request, _response, next) {
      const context = contextOf(request);
      const { claim } = context;
      delete context.claim;
      const { status } = asProblem(error);
      if (claim) {
        // A client that has left while it waited changed nothing, and neither did a transaction that Postgres ended.
        const isUnchanged = status < 500 || error instanceof ClientDisconnectedError || isRolledBack(error);
        await store(
          isUnchanged ? releaseRequest(database, claim) : settleRequest(database, claim, { status, reply: null }),
        );
      }
      next(error);
    },
  };
}

/** Keyed, as a hash of a body with a password could be searched for it. */
function contentOf(request: Request, key: Buffer): Buffer {
  const hmac = createHmac('sha256', key).update(`${request.method} ${request.originalUrl}\n`);
  if (Buffer.isBuffer(request.body)) hmac.update(request.body);
  return hmac.digest();
}

function ownerOf({ userId, requestId }: { userId: string; requestId: string }): `request ${string}` {
  return `request ${userId} ${requestId}`;
}
