import { createServer, type Server } from 'node:http';
import type { Registry } from './metrics.ts';

/** What `GET /health/ready` answers; `ready` decides between 200 and 503. */
export interface Readiness {
  ready: boolean;
  [check: string]: unknown;
}

/** The admin port: `GET /health/live`, `GET /health/ready` and `GET /metrics`, for probes and Prometheus, never for the internet. */
export function createAdminServer(readiness: () => Promise<Readiness>, registry: Registry): Server {
  return createServer((request, response) => {
    const reply = (status: number, type: string, body: string) => {
      response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(body);
    };
    const answer = async () => {
      const path = request.url?.split('?')[0];
      if (request.method !== 'GET' && request.method !== 'HEAD') return reply(405, 'text/plain', 'GET only\n');
      if (path === '/health/live') return reply(200, 'application/json', '{"live":true}');
      if (path === '/metrics') return reply(200, registry.contentType, await registry.metrics());
      if (path !== '/health/ready') return reply(404, 'text/plain', 'try /health/live, /health/ready or /metrics\n');
      const state = await readiness();
      return reply(state.ready ? 200 : 503, 'application/json', JSON.stringify(state));
    };
    answer().catch(() => reply(500, 'text/plain', 'internal error\n'));
  });
}

/** Ends the admin server with every connection to it; one that never listened too. */
export async function closeAdminServer(server: Server): Promise<void> {
  if (server.listening) await new Promise((resolve) => server.close(resolve).closeAllConnections());
}
