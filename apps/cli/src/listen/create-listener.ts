import type { IncomingMessage, Server } from 'node:http';
import { Problem } from '@orders/domain';
import {
  createBoundedServer,
  createGracefulShutdown,
  type GracefulShutdown,
  problemTypeBase,
  requestIdOf,
  writeProblem,
} from '@orders/http';
import { type Cause, diagnose } from './diagnose.ts';
import { type HandledRequest, handleRequest, pathOf, type Setup } from './handle-request.ts';

/** A request and its reply. */
export interface Arrival extends HandledRequest {
  at: Date;
  method: string;
  path: string;
  /** Alternating names and values, as received. */
  rawHeaders: readonly string[];
  requestId: string;
  status: number;
  problem: Problem | null;
  cause: Cause | null;
}

/** The headers of every reply of intake. */
const COMMON_HEADERS = [
  ['Cache-Control', 'no-store'],
  ['X-Content-Type-Options', 'nosniff'],
  ['Strict-Transport-Security', 'max-age=31536000'],
] as const;
const BOUNDS = { MAX_CONNECTIONS: 1000, REQUEST_TIMEOUT: 30_000, IDLE_TIMEOUT: 65_000 };

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
    const at = new Date();
    const requestId = requestIdOf(request);
    const handled: HandledRequest = { body: null, outcome: null, isSimulated: false };
    let problem: Problem | null = null;
    response.setHeaders(new Map([...COMMON_HEADERS, ['X-Request-Id', requestId]]));
    try {
      await handleRequest(setup, request, response, handled);
    } catch (error) {
      problem = error instanceof Problem ? error : new Problem('internal_error');
      if (response.headersSent || !response.writable) response.destroy();
      else writeProblem(request, response, problem, requestId, { type: typeBase + problem.code });
    }
    const cause = problem && !handled.isSimulated ? diagnose(problem, setup, request, handled) : null;
    show({ ...handled, ...requestFields(request), at, requestId, status: response.statusCode, problem, cause });
  });
  server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }) => {
    // A TLS handshake record.
    if (error.rawPacket?.[0] === 0x16)
      onInvalidHttp('Received TLS, but this listener expects plain HTTP: send to http://, not https://.');
    else if (error.code?.startsWith('HPE_')) onInvalidHttp('Received data that is not HTTP.');
  });
  return { server, shutdown };
}

function requestFields(request: IncomingMessage) {
  return { method: request.method ?? '', path: pathOf(request), rawHeaders: request.rawHeaders };
}
