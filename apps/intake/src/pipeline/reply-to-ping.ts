import type { RequestHandler } from 'express';
import type { SourceActivity } from '../observability/source-activity.ts';
import { sourceOf } from '../request-context.ts';

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
