import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Channel,
  claimedDigest,
  DEFAULT_MAX_BODY_BYTES,
  hashApiKey,
  isSignedWith,
  normalizeOrder,
  Problem,
  parseBody,
  receiptJson,
  validateOrder,
  validateStrictly,
} from '@orders/domain';
import {
  acceptedJson,
  checkJson,
  type Preferences,
  readBearerKey,
  readIdempotencyKey,
  readPreferences,
  readRawBody,
  readSignature,
} from '@orders/http';
import { type Deliveries, type EchoReceipt, type Outcome, stateOf } from './deliveries.ts';
import type { SimulatedFailures } from './failures.ts';

/** Configuration and state of a listener. */
export interface Setup {
  apiKey: string;
  signingSecret: string;
  /** Prefix of every path; may be empty. */
  basePath: string;
  failures: SimulatedFailures;
  deliveries: Deliveries;
}

/** The result of a request. */
export interface HandledRequest {
  /** Null if the body was not read. */
  body: Buffer | null;
  /** Null unless a delivery was accepted. */
  outcome: Outcome | null;
  /** Rejected only because of `--fail`. */
  isSimulated: boolean;
}

const CHANNELS: Record<string, Channel> = { '/ingest/orders': 'rest', '/ingest/webhook': 'webhook' };

/**
 * Handles a request as intake does, with the same checks in the same order (contract, section 5). The receipt is final immediately, as
 * there is no worker to wait for.
 *
 * @param handled receives the results, for display.
 * @throws {Problem} which the caller must send.
 */
export async function handleRequest(
  setup: Setup,
  request: IncomingMessage,
  response: ServerResponse,
  handled: HandledRequest,
): Promise<void> {
  const path = pathOf(request);
  const route = path.startsWith(setup.basePath) ? path.slice(setup.basePath.length) : '';
  const channel = CHANNELS[route];
  const [, receiptId] = /^\/ingest\/status\/([^/]+)$/.exec(route) ?? [];
  if (channel) {
    allow(request, ['POST']);
    await acceptDelivery(setup, channel, request, response, handled);
  } else if (receiptId !== undefined) {
    allow(request, ['GET', 'HEAD']);
    authenticate(setup, request);
    const receipt = setup.deliveries.find(receiptId.toLowerCase());
    if (!receipt) throw new Problem('receipt_not_found');
    const { wait } = readPreferences(request);
    if (wait !== null) response.setHeader('Preference-Applied', `wait=${wait}`);
    sendJson(response, 200, statusOf(receipt));
  } else throw new Problem('not_found');
}

/** The path of a request, without its query. */
export function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0] as string;
}

async function acceptDelivery(
  setup: Setup,
  channel: Channel,
  request: IncomingMessage,
  response: ServerResponse,
  handled: HandledRequest,
): Promise<void> {
  const failure = setup.failures.next();
  if (failure) {
    handled.isSimulated = true;
    throw failure;
  }
  authenticate(setup, request);
  checkJson(request);
  const body = await bodyOf(request);
  handled.body = body;
  if (channel === 'webhook') verify(setup, request, body);
  const idempotencyKey = readIdempotencyKey(request);
  const preferences = readPreferences(request);
  const payload = parseBody(body);
  if (preferences.handling === 'strict') {
    response.setHeader('Preference-Applied', 'handling=strict');
    validateStrictly(payload);
  } else validateOrder(payload);
  handled.outcome = setup.deliveries.accept({ ...normalizeOrder(payload), channel, idempotencyKey, body });
  sendAccepted(setup, response, handled.outcome, preferences);
}

function allow({ method = '' }: IncomingMessage, methods: readonly string[]): void {
  if (!methods.includes(method)) throw new Problem('method_not_allowed', { headers: { Allow: methods.join(', ') } });
}

function authenticate({ apiKey }: Setup, request: IncomingMessage): void {
  if (!hashApiKey(readBearerKey(request)).equals(hashApiKey(apiKey))) throw new Problem('invalid_api_key');
}

function bodyOf(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    readRawBody(request, { maxBytes: DEFAULT_MAX_BODY_BYTES }, (problem, body) =>
      body ? resolve(body) : reject(problem),
    );
  });
}

function verify({ signingSecret }: Setup, request: IncomingMessage, body: Buffer): void {
  const header = readSignature(request);
  if (header === undefined) throw new Problem('missing_signature');
  const claimed = claimedDigest(header);
  if (!claimed || !isSignedWith(signingSecret, body, claimed)) throw new Problem('invalid_signature');
}

function sendAccepted(
  { basePath }: Setup,
  response: ServerResponse,
  { receipt, replayed, kept }: Outcome,
  { wait, handling }: Preferences,
): void {
  const { receiptId } = receipt;
  const applied = [...(handling ? [`handling=${handling}`] : []), ...(wait === null ? [] : [`wait=${wait}`])];
  if (applied.length > 0) response.setHeader('Preference-Applied', applied.join(', '));
  if (replayed) response.setHeader('Idempotent-Replayed', 'true');
  response.setHeader('Location', `${basePath}/ingest/status/${receiptId}`);
  const { status, order_id } = statusOf(receipt);
  const accepted = { receiptId, duplicate: replayed, payloadMismatch: kept !== null, ...(kept && { kept }) };
  sendJson(response, 202, acceptedJson(accepted, wait === null ? null : { status, order_id }));
}

function statusOf(receipt: EchoReceipt) {
  const { receiptId, orderId, original, order, channel, receivedAt, warnings, changes, error } = receipt;
  return receiptJson({
    receipt_id: receiptId,
    state: stateOf(receipt),
    order_id: orderId,
    channel,
    source_order_id: order.source_order_id,
    received_at: receivedAt,
    updated_at: receivedAt,
    attempts: error ? 0 : 1,
    next_attempt_at: null,
    warnings,
    error_code: error,
    original_receipt_id: original?.receiptId ?? null,
    original_order_id: original?.orderId ?? null,
    changes,
  });
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  const text = JSON.stringify(value);
  response
    .writeHead(status, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(text),
    })
    .end(text);
}
