import { type SecretsKeys, tryToUnseal } from '@orders/database/accounts/seal.ts';
import { Problem } from '@orders/domain/problems.ts';
import { authenticateDelivery } from '@orders/domain/sources/authenticate-delivery.ts';
import type { Request, RequestHandler } from 'express';
import type { SourceActivity } from '../observability/source-activity.ts';
import { contextOf, sourceOf } from '../request-context.ts';
import type { SourceOfDelivery } from './find-sources.ts';

/**
 * Verifies the signature or token of a delivery to a source, over the exact bytes received, against each accepted secret (two after a
 * change). A secret may be newer than the cached source, so the source is looked up again before a delivery is rejected.
 *
 * @throws {Problem} `missing_signature`, `invalid_signature`, or `storage_unavailable` if no key unseals a secret that may be the right one.
 */
export function verifyDelivery(keys: SecretsKeys, activity: SourceActivity): RequestHandler {
  return async (request, _response, next) => {
    const cached = sourceOf(request);
    if (problemOf(request, cached, keys) !== null) {
      const current = (await contextOf(request).authenticateAgain?.()) ?? cached;
      const problem = problemOf(request, current as SourceOfDelivery, keys);
      if (problem !== null) {
        if (problem.code !== 'storage_unavailable') activity.note(cached, 'rejected');
        throw problem;
      }
    }
    next();
  };
}

function problemOf(request: Request, source: SourceOfDelivery, keys: SecretsKeys): Problem | null {
  const { accountId, settings, sealedSecrets } = source;
  const opened = sealedSecrets.map((sealed) => tryToUnseal(keys, accountId, sealed));
  const secrets = opened.filter((secret) => secret !== null);
  try {
    const { headers, body } = request;
    authenticateDelivery({ headers, body, now: Date.now() }, settings.signature, secrets);
    return null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const isUnreadable = secrets.length < opened.length;
    return isUnreadable && error.code === 'invalid_signature' ? new Problem('storage_unavailable') : error;
  }
}

const PING = /^webhook_id=\d{1,20}$/;

/**
 * Replies 200 to the unsigned request by which WooCommerce checks a URL when a webhook is saved (`WC_Webhook::deliver_ping`). It contains
 * nothing but the webhook's number and changes nothing.
 */
export function replyToPing(activity: SourceActivity): RequestHandler {
  return (request, response, next) => {
    const source = sourceOf(request);
    const isPing = source.preset === 'woocommerce' && request.body.length < 40 && PING.test(request.body.toString());
    if (!isPing) return next();
    activity.note(source, 'ping');
    response.json({ outcome: 'ping' });
  };
}
