import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
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
  checkJson,
  createBoundedServer,
  createGracefulShutdown,
  type GracefulShutdown,
  problemTypeBase,
  readBearerKey,
  readIdempotencyKey,
  readPreferences,
  readRawBody,
  readSignature,
  requestIdOf,
  setCommonHeaders,
  writeAccepted,
  writeProblem,
} from '@orders/http';
import type { Deliveries, EchoReceipt, Outcome } from './deliveries.ts';
import { type Cause, diagnose, type Expected } from './diagnose.ts';
import type { SimulatedFailures } from './failures.ts';

/** Configuration and state of a listener. */
export interface Setup extends Expected {
  failures: SimulatedFailures;
  deliveries: Deliveries;
}

/** A request and its reply. */
export interface Arrival {
  at: Date;
  method: string;
  /** Without its query. */
  path: string;
  /** Alternating names and values, as received. */
  rawHeaders: readonly string[];
  requestId: string;
  /** Null if the body was not read. */
  body: Buffer | null;
  status: number;
  problem: Problem | null;
  cause: Cause | null;
  /** Null unless a delivery was accepted. */
  outcome: Outcome | null;
  /** Rejected only because of `--fail`. */
  isSimulated: boolean;
}

const BOUNDS = { MAX_CONNECTIONS: 1000, REQUEST_TIMEOUT: 30_000, IDLE_TIMEOUT: 65_000 };
const CHANNELS: Record<string, Channel> = { '/ingest/orders': 'rest', '/ingest/webhook': 'webhook' };
const readBody = promisify(readRawBody);

/**
 * Creates a server with the service's routes for deliveries and their status.
 *
 * @param show called for each request after its reply.
 * @param onInvalidHttp called with a message about input that is not HTTP.
 */
export function createListener(
  setup: Setup,
  show: (arrival: Arrival) => void,
  onInvalidHttp: (text: string) => void,
): { server: Server; shutdown: GracefulShutdown } {
  const typeBase = problemTypeBase(setup.basePath);
  const server = createBoundedServer(BOUNDS);
  const shutdown = createGracefulShutdown(server);
  server.on('request', async (request, response) => {
    const { method = '', url = '/', rawHeaders } = request;
    const requestId = requestIdOf(request);
    const arrival: Arrival = {
      at: new Date(),
      method,
      path: url.split('?', 1)[0] as string,
      rawHeaders,
      requestId,
      body: null,
      status: 0,
      problem: null,
      cause: null,
      outcome: null,
      isSimulated: false,
    };
    setCommonHeaders(response, requestId);
    try {
      await handle(setup, request, response, arrival);
    } catch (error) {
      const problem = error instanceof Problem ? error : new Problem('internal_error');
      arrival.problem = problem;
      if (!arrival.isSimulated) arrival.cause = diagnose(problem, setup, request, arrival.body);
      if (response.headersSent || !response.writable) response.destroy();
      else writeProblem(request, response, problem, requestId, { type: typeBase + problem.code });
    }
    show({ ...arrival, status: response.statusCode });
  });
  server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }) => {
    // A TLS handshake record.
    if (error.rawPacket?.[0] === 0x16)
      onInvalidHttp('Received TLS, but this listener expects plain HTTP: send to http://, not https://.');
    else if (error.code?.startsWith('HPE_')) onInvalidHttp('Received data that is not HTTP.');
  });
  return { server, shutdown };
}

/**
 * Handles a request as intake does, with the same checks in the same order (contract, section 5). The receipt is final immediately, as
 * there is no worker to wait for.
 *
 * @param arrival receives the results.
 * @throws {Problem} which the caller must send.
 */
async function handle(setup: Setup, request: IncomingMessage, response: ServerResponse, arrival: Arrival) {
  const { basePath, failures, deliveries } = setup;
  const route = arrival.path.startsWith(basePath) ? arrival.path.slice(basePath.length) : '';
  const channel = CHANNELS[route];
  const [, receiptId] = /^\/ingest\/status\/([^/]+)$/.exec(route) ?? [];
  if (!channel && receiptId === undefined) throw new Problem('not_found');
  const methods = channel ? ['POST'] : ['GET', 'HEAD'];
  if (!methods.includes(arrival.method))
    throw new Problem('method_not_allowed', { headers: { Allow: methods.join(', ') } });
  const failure = channel ? failures.next() : null;
  arrival.isSimulated = failure !== null;
  if (failure) throw failure;
  if (!hashApiKey(readBearerKey(request)).equals(hashApiKey(setup.apiKey))) throw new Problem('invalid_api_key');
  if (!channel) return sendStatus(request, response, deliveries.find((receiptId as string).toLowerCase()));
  checkJson(request);
  const body = (await readBody(request, { maxBytes: DEFAULT_MAX_BODY_BYTES })) as Buffer;
  arrival.body = body;
  if (channel === 'webhook') verify(setup, request, body);
  const idempotencyKey = readIdempotencyKey(request);
  const preferences = readPreferences(request);
  const payload = parseBody(body);
  if (preferences.handling === 'strict') {
    response.setHeader('Preference-Applied', 'handling=strict');
    validateStrictly(payload);
  } else validateOrder(payload);
  const accepted = deliveries.accept({ ...normalizeOrder(payload), channel, idempotencyKey, body });
  arrival.outcome = accepted;
  const { receipt, replayed, kept } = accepted;
  const { receiptId: id, state, orderId } = receipt;
  const recorded = { receiptId: id, duplicate: replayed, payloadMismatch: kept !== null, ...(kept && { kept }) };
  const outcome = preferences.wait === null ? null : { status: state, order_id: orderId };
  writeAccepted(response, recorded, { basePath, preferences, outcome });
}

function verify({ signingSecret }: Setup, request: IncomingMessage, body: Buffer): void {
  const header = readSignature(request);
  if (header === undefined) throw new Problem('missing_signature');
  const claimed = claimedDigest(header);
  if (!claimed || !isSignedWith(signingSecret, body, claimed)) throw new Problem('invalid_signature');
}

function sendStatus(request: IncomingMessage, response: ServerResponse, receipt: EchoReceipt | null): void {
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
  });
  const text = JSON.stringify(status);
  // Node adds the length by itself, but not to the reply to a HEAD request.
  response
    .setHeader('Content-Type', 'application/json; charset=utf-8')
    .setHeader('Content-Length', Buffer.byteLength(text))
    .end(text);
}
