import type { ServerResponse } from 'node:http';
import type { Preferences } from './read-headers.ts';

/** The outcome of a delivery. */
interface Accepted {
  receiptId: string;
  /** The idempotency key was used before. */
  duplicate: boolean;
  /** The key was first used with other content. */
  payloadMismatch: boolean;
  /** The receipt of the mismatched content. */
  kept?: { receiptId: string };
}

/** The receipt's state, if the client waited for it. */
type Outcome = { status: string; order_id: number | null } | null;

/**
 * Replies 202 to an accepted order.
 *
 * @param reply.basePath prefix of the routes.
 */
export function writeAccepted(
  response: ServerResponse,
  accepted: Accepted,
  { basePath, preferences, outcome }: { basePath: string; preferences: Preferences; outcome: Outcome },
): void {
  const { handling, wait } = preferences;
  const applied = [...(handling ? [`handling=${handling}`] : []), ...(outcome ? [`wait=${wait}`] : [])];
  if (applied.length > 0) response.setHeader('Preference-Applied', applied.join(', '));
  if (accepted.duplicate) response.setHeader('Idempotent-Replayed', 'true');
  // Node's own methods: Express' take a tenth of the whole request's time.
  response.statusCode = 202;
  response
    .setHeader('Location', `${basePath}/ingest/status/${accepted.receiptId}`)
    .setHeader('Content-Type', 'application/json; charset=utf-8')
    .end(JSON.stringify(acceptedJson(accepted, outcome)));
}

/** The reply to an accepted order (contract, section 2); also one result of a batch. */
export function acceptedJson({ receiptId, duplicate, payloadMismatch, kept }: Accepted, outcome: Outcome = null) {
  return {
    receipt_id: receiptId,
    ...(duplicate && { duplicate: true }),
    ...(payloadMismatch && { payload_mismatch: true }),
    ...(kept && { kept_as: kept.receiptId }),
    ...outcome,
  };
}
