import { createServer, type IncomingMessage, type Server } from 'node:http';
import { parseDuration } from '../config/environment.ts';
import { createLevelSwitch, type LevelSwitch, LOG_LEVELS } from '../observability/log-level.ts';
import type { Logger } from '../observability/logger.ts';
import type { Registry } from '../observability/metrics.ts';
import { refuseChange } from './admin-access.ts';

/** What `GET /health/ready` answers; `ready` decides between 200 and 503. */
export interface Readiness {
  ready: boolean;
  [check: string]: unknown;
}

/**
 * The admin port, for probes, Prometheus and operators, never for the internet. Reading needs no key.
 *
 * @param token lets a caller that is not on the loopback change the log level; without one, nobody else can.
 */
export function createAdminServer(
  readiness: () => Promise<Readiness>,
  registry: Registry,
  logger: Logger,
  token?: string,
): Server {
  const logLevel = createLevelSwitch(logger);
  return createServer((request, response) => {
    const reply = (status: number, type: string, body: string) => {
      response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(body);
    };
    const json = (status: number, body: object) => reply(status, 'application/json', JSON.stringify(body));
    const answer = async () => {
      const [path, query] = request.url?.split('?') ?? [];
      if (path === '/log-level' && request.method === 'PUT') {
        const denied = refuseChange(request, token);
        if (denied) return reply(denied.status, 'text/plain', denied.text);
        const refusal = await changeLevel(request, new URLSearchParams(query).get('for'), logLevel);
        return refusal === null ? json(200, logLevel.now()) : reply(400, 'text/plain', `${refusal}\n`);
      }
      if (request.method !== 'GET' && request.method !== 'HEAD') return reply(405, 'text/plain', 'GET only\n');
      if (path === '/health/live') return json(200, { live: true });
      if (path === '/metrics') return reply(200, registry.contentType, await registry.metrics());
      if (path === '/log-level') return json(200, logLevel.now());
      if (path !== '/health/ready') return reply(404, 'text/plain', `try ${PATHS.join(', ')}\n`);
      const state = await readiness();
      return json(state.ready ? 200 : 503, state);
    };
    answer().catch(() => reply(500, 'text/plain', 'internal error\n'));
  });
}

const PATHS = ['/health/live', '/health/ready', '/metrics', '/log-level'];
const LONGEST_BODY = 100;
const LONGEST_SPAN_MS = 24 * 3_600_000;

/** @returns what is wrong with what was asked for, or null. */
async function changeLevel(
  request: IncomingMessage,
  span: string | null,
  logLevel: LevelSwitch,
): Promise<string | null> {
  let body = '';
  for await (const chunk of request) if (body.length < LONGEST_BODY) body += chunk;
  const level = LOG_LEVELS.find((one) => one === body.trim());
  if (!level) return `the body is one of ${LOG_LEVELS.join(', ')}`;
  const forMs = span === null ? null : readSpan(span);
  if (forMs === undefined) return 'for is a time span such as 10m, at most 24h';
  logLevel.set(level, forMs);
  return null;
}

function readSpan(text: string): number | undefined {
  try {
    const span = parseDuration(text);
    return span <= LONGEST_SPAN_MS ? span : undefined;
  } catch {
    return undefined;
  }
}

/** Ends the admin server with every connection to it; one that never listened too. */
export async function closeAdminServer(server: Server): Promise<void> {
  if (server.listening) await new Promise((resolve) => server.close(resolve).closeAllConnections());
}
