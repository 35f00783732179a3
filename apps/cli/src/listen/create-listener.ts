import type { Server } from 'node:http';
import { Problem } from '@orders/domain';
import {
  createBoundedServer,
  createGracefulShutdown,
  type GracefulShutdown,
  problemTypeBase,
  requestIdOf,
  setCommonHeaders,
  writeProblem,
} from '@orders/http';
import type { Arrival, Setup } from './arrival.ts';
import { diagnose } from './diagnose.ts';
import { handleRequest } from './handle-request.ts';
import { reportInvalidHttp } from './report-invalid-http.ts';

const BOUNDS = { MAX_CONNECTIONS: 1000, REQUEST_TIMEOUT: 30_000, IDLE_TIMEOUT: 65_000 };

/**
 * Creates a server with the service's routes for deliveries, cancellations and the status of a receipt.
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
      cancelled: null,
      isSimulated: false,
    };
    setCommonHeaders(response, requestId);
    try {
      await handleRequest(setup, request, response, arrival);
    } catch (error) {
      const problem = error instanceof Problem ? error : new Problem('internal_error');
      arrival.problem = problem;
      if (!arrival.isSimulated) arrival.cause = diagnose(problem, setup, request, arrival.body);
      if (response.headersSent || !response.writable) response.destroy();
      else writeProblem(request, response, problem, requestId, { type: typeBase + problem.code });
    }
    show({ ...arrival, status: response.statusCode });
  });
  reportInvalidHttp(server, onInvalidHttp);
  return { server, shutdown };
}
