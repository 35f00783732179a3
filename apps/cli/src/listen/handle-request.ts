import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import {
  type Channel,
  claimedDigest,
  DEFAULT_MAX_BODY_BYTES,
  hashApiKey,
  isSignedWith,
  MAX_CANCEL_BYTES,
  normalizeSent,
  Problem,
  parseBody,
  readCancellations,
  receiptJson,
  validateOrder,
  validateStrictly,
} from '@orders/domain';
import {
  checkJson,
  readBearerKey,
  readIdempotencyKey,
  readPreferences,
  readRawBody,
  readSignature,
  writeAccepted,
} from '@orders/http';
import type { Arrival, Setup } from './arrival.ts';

/** A route that takes a body. */
interface Route {
  channel: Channel;
  maxBytes: number;
  handle: typeof acceptOrder;
}

const CANCELLATIONS = { maxBytes: MAX_CANCEL_BYTES, handle: cancelOrders };
const ORDERS = { maxBytes: DEFAULT_MAX_BODY_BYTES, handle: acceptOrder };
const ROUTES: Record<string, Route> = {
  '/ingest/orders': { channel: 'rest', ...ORDERS },
  '/ingest/webhook': { channel: 'webhook', ...ORDERS },
  '/ingest/orders/cancel': { channel: 'rest', ...CANCELLATIONS },
  '/ingest/webhook/cancel': { channel: 'webhook', ...CANCELLATIONS },
};
const readBody = promisify(readRawBody);

/** What a route works with. */
interface Exchange {
  setup: Setup;
  request: IncomingMessage;
  response: ServerResponse;
  /** Receives the results. */
  arrival: Arrival;
  body: Buffer;
}

/**
 * Handles a request as intake does, with the same checks in the same order (contract, section 5). The receipt is final immediately, as
 * there is no worker to wait for.
 *
 * @param arrival receives the results.
 * @throws {Problem} which the caller must send.
 */
export async function handleRequest(
  setup: Setup,
  request: IncomingMessage,
  response: ServerResponse,
  arrival: Arrival,
): Promise<void> {
  const { basePath, failures } = setup;
  const path = arrival.path.startsWith(basePath) ? arrival.path.slice(basePath.length) : '';
  const route = Object.hasOwn(ROUTES, path) ? ROUTES[path] : undefined;
  const [, receiptId] = /^\/ingest\/status\/([^/]+)$/.exec(path) ?? [];
  if (!route && receiptId === undefined) throw new Problem('not_found');
  const methods = route ? ['POST'] : ['GET', 'HEAD'];
  if (!methods.includes(arrival.method))
    throw new Problem('method_not_allowed', { headers: { Allow: methods.join(', ') } });
  const failure = route ? failures.next() : null;
  arrival.isSimulated = failure !== null;
  if (failure) throw failure;
  if (!hashApiKey(readBearerKey(request)).equals(hashApiKey(setup.apiKey))) throw new Problem('invalid_api_key');
  if (!route) return sendStatus(setup, request, response, (receiptId as string).toLowerCase());
  checkJson(request);
  const body = (await readBody(request, { maxBytes: route.maxBytes })) as Buffer;
  arrival.body = body;
  if (route.channel === 'webhook') verify(setup, request, body);
  route.handle({ setup, request, response, arrival, body }, route.channel);
}

function verify({ signingSecret }: Setup, request: IncomingMessage, body: Buffer): void {
  const header = readSignature(request);
  if (header === undefined) throw new Problem('missing_signature');
  const claimed = claimedDigest(header);
  if (!claimed || !isSignedWith(signingSecret, body, claimed)) throw new Problem('invalid_signature');
}

function acceptOrder({ setup, request, response, arrival, body }: Exchange, channel: Channel): void {
  const idempotencyKey = readIdempotencyKey(request);
  const preferences = readPreferences(request);
  const payload = parseBody(body);
  if (preferences.handling === 'strict') {
    response.setHeader('Preference-Applied', 'handling=strict');
    validateStrictly(payload);
  } else validateOrder(payload);
  const accepted = setup.deliveries.accept({
    ...normalizeSent(payload),
    channel,
    idempotencyKey,
    body,
  });
  arrival.outcome = accepted;
  const { receipt, replayed, kept } = accepted;
  const { receiptId: id, state, orderId } = receipt;
  const recorded = { receiptId: id, duplicate: replayed, payloadMismatch: kept !== null, ...(kept && { kept }) };
  const outcome = preferences.wait === null ? null : { status: state, order_id: orderId };
  writeAccepted(response, recorded, { basePath: setup.basePath, preferences, outcome });
}

function cancelOrders({ setup, response, arrival, body }: Exchange): void {
  const { isList, items } = readCancellations(parseBody(body));
  arrival.cancelled = setup.deliveries.cancel(items);
  const results = arrival.cancelled.map(({ outcome, source_order_id, order_id }) => ({
    outcome,
    source_order_id,
    order_id,
  }));
  writeJson(response, isList ? { results } : results[0]);
}

function sendStatus(
  { deliveries }: Setup,
  request: IncomingMessage,
  response: ServerResponse,
  receiptId: string,
): void {
  const receipt = deliveries.find(receiptId);
  if (!receipt) throw new Problem('receipt_not_found');
  const { original, error } = receipt;
  const { wait } = readPreferences(request);
  if (wait !== null) response.setHeader('Preference-Applied', `wait=${wait}`);
  const status = receiptJson({
    receipt_id: receipt.receiptId,
    state: receipt.state,
    order_id: receipt.orderId,
    channel: receipt.channel,
    source_order_id: receipt.order.source_order_id,
    received_at: receipt.receivedAt,
    updated_at: receipt.receivedAt,
    attempts: error ? 0 : 1,
    next_attempt_at: null,
    warnings: receipt.warnings,
    error_code: error,
    original_receipt_id: original?.receiptId ?? null,
    original_order_id: original?.orderId ?? null,
    changes: receipt.changes,
    order_state: deliveries.orderStateOf(receipt),
    source: null,
  });
  writeJson(response, status);
}

function writeJson(response: ServerResponse, value: unknown): void {
  const text = JSON.stringify(value);
  // Node adds the length by itself, but not to the reply to a HEAD request.
  response
    .setHeader('Content-Type', 'application/json; charset=utf-8')
    .setHeader('Content-Length', Buffer.byteLength(text))
    .end(text);
}
