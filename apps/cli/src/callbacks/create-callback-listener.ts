import type { IncomingMessage, Server } from 'node:http';
import { promisify } from 'node:util';
import type { OrdersEvent } from '@orders/client';
import { DEFAULT_MAX_BODY_BYTES, Problem } from '@orders/domain';
import {
  createBoundedServer,
  createGracefulShutdown,
  type GracefulShutdown,
  readRawBody,
  requestIdOf,
  setCommonHeaders,
  writeProblem,
} from '@orders/http';
import { reportInvalidHttp } from '../listen/report-invalid-http.ts';
import { judgeDelivery, type Verdict } from './judge-delivery.ts';

/** A request and its reply. */
export interface Callback {
  at: Date;
  /** Without its query. */
  path: string;
  status: number;
  verdict: Verdict | Problem['code'];
  detail: string | null;
  webhookId: string | null;
  /** Whether the same event was verified before. */
  isAgain: boolean;
  event: OrdersEvent | null;
}

const BOUNDS = { MAX_CONNECTIONS: 1000, REQUEST_TIMEOUT: 30_000, IDLE_TIMEOUT: 65_000 };
const MAX_KNOWN_IDS = 10_000;
const readBody = promisify(readRawBody);

/**
 * Creates a server that receives deliveries of events at every path, except those at which the service takes orders.
 *
 * @param show called for each request after its reply.
 * @param onInvalidHttp called with a message about input that is not HTTP.
 */
export function createCallbackListener(
  secret: string | undefined,
  show: (callback: Callback) => void,
  onInvalidHttp: (message: string) => void,
): { server: Server; shutdown: GracefulShutdown } {
  const server = createBoundedServer(BOUNDS);
  const shutdown = createGracefulShutdown(server);
  /** Oldest first. */
  const knownIds = new Set<string>();

  function isKnown(id: string): boolean {
    if (knownIds.has(id)) return true;
    knownIds.add(id);
    for (const oldest of knownIds) if (knownIds.size > MAX_KNOWN_IDS) knownIds.delete(oldest);
    return false;
  }

  server.on('request', async (request, response) => {
    const requestId = requestIdOf(request);
    const [path = '/'] = (request.url ?? '/').split('?', 1);
    const webhookId = request.headers['webhook-id'];
    const callback = { at: new Date(), path, webhookId: typeof webhookId === 'string' ? webhookId : null };
    setCommonHeaders(response, requestId);
    try {
      const { verdict, detail, event } = await judgeDelivery(await bodyOf(request, path), request.headers, secret);
      const status = event ? 204 : 401;
      response.writeHead(status).end();
      show({ ...callback, status, verdict, detail, isAgain: event !== null && isKnown(event.id), event });
    } catch (error) {
      const problem = error instanceof Problem ? error : new Problem('internal_error');
      if (response.headersSent || !response.writable) response.destroy();
      else writeProblem(request, response, problem, requestId, { type: 'about:blank' });
      const { status, code, detail } = problem;
      show({ ...callback, status, verdict: code, detail, isAgain: false, event: null });
    }
  });
  reportInvalidHttp(server, onInvalidHttp);
  return { server, shutdown };
}

/** @throws {Problem} if the request cannot be a delivery of an event. */
async function bodyOf(request: IncomingMessage, path: string): Promise<Buffer> {
  if (/(^|\/)ingest\//.test(path))
    throw new Problem('not_found', { detail: 'With --callbacks no orders are taken: start orders listen without it.' });
  if (request.method !== 'POST')
    throw new Problem('method_not_allowed', { headers: { Allow: 'POST' }, detail: 'Events are sent by POST.' });
  return (await readBody(request, { maxBytes: DEFAULT_MAX_BODY_BYTES })) as Buffer;
}
