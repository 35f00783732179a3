import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import { parseDuration } from '../config/environment.ts';
import { createLevelSwitch, type LevelSwitch, LOG_LEVELS } from '../observability/log-level.ts';
import type { Logger } from '../observability/logger.ts';
import type { Registry } from '../observability/metrics.ts';
import { boundPipelining } from './bound-pipelining.ts';

// `check` also matches IPv4-mapped IPv6 addresses, which sockets that listen on `::` report.
const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether a socket's remote address is a loopback address. */
export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/**
 * Only callers on the loopback interface and callers with the token may change a running process. The socket's address decides; headers
 * such as `X-Forwarded-For` are ignored.
 *
 * @returns status and body of the rejection, or null when the change is allowed.
 */
export function rejectChange(
  { socket, headers }: Pick<IncomingMessage, 'headers'> & { socket: { remoteAddress?: string | undefined } },
  token: string | undefined,
): { status: 401 | 403; text: string } | null {
  if (isLoopback(socket.remoteAddress)) return null;
  if (token === undefined)
    return { status: 403, text: 'ask from the loopback of this process, or set ADMIN_TOKEN and send it\n' };
  const [, sent] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  if (sent !== undefined && isSame(sent, token)) return null;
  return { status: 401, text: 'send Authorization: Bearer <ADMIN_TOKEN>, or ask from the loopback of this process\n' };
}

/** Hashes first, as a constant-time comparison needs values of equal length. */
function isSame(left: string, right: string): boolean {
  const [a, b] = [left, right].map((text) => createHash('sha256').update(text).digest()) as [Buffer, Buffer];
  return timingSafeEqual(a, b);
}

/** Body of `GET /health/ready`; `ready` decides between 200 and 503. */
export interface Readiness {
  ready: boolean;
  [check: string]: unknown;
}

/**
 * The admin port, for probes, Prometheus and operators. It must not be reachable from the internet. Reads need no key.
 *
 * @param token lets callers outside the loopback interface change the log level; without it, only loopback callers can.
 */
export function createAdminServer(
  readiness: () => Promise<Readiness>,
  registry: Registry,
  logger: Logger,
  token?: string,
): Server {
  const logLevel = createLevelSwitch(logger);
  const server = createServer((request, response) => {
    const reply = (status: number, type: string, body: string) => {
      response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(body);
    };
    const json = (status: number, body: object) => reply(status, 'application/json', JSON.stringify(body));
    const handle = async () => {
      const [path, query] = request.url?.split('?') ?? [];
      if (path === '/log-level' && request.method === 'PUT') {
        const denied = rejectChange(request, token);
        if (denied) return reply(denied.status, 'text/plain', denied.text);
        const wrong = await changeLevel(request, new URLSearchParams(query).get('for'), logLevel);
        return wrong === null ? json(200, logLevel.now()) : reply(400, 'text/plain', `${wrong}\n`);
      }
      if (request.method !== 'GET' && request.method !== 'HEAD') return reply(405, 'text/plain', 'GET only\n');
      if (path === '/health/live') return json(200, { live: true });
      if (path === '/metrics') return reply(200, registry.contentType, await registry.metrics());
      if (path === '/log-level') return json(200, logLevel.now());
      if (path !== '/health/ready') return reply(404, 'text/plain', `try ${PATHS.join(', ')}\n`);
      const state = await readiness();
      return json(state.ready ? 200 : 503, state);
    };
    handle().catch(() => reply(500, 'text/plain', 'internal error\n'));
  });
  return boundPipelining(server, MAX_PIPELINED);
}

/** Unanswered requests of one connection. */
const MAX_PIPELINED = 4;
const PATHS = ['/health/live', '/health/ready', '/metrics', '/log-level'];
const MAX_BODY_LENGTH = 100;
const MAX_SPAN_MS = 24 * 3_600_000;

/** @returns what is wrong with the request, or null. */
async function changeLevel(
  request: IncomingMessage,
  span: string | null,
  logLevel: LevelSwitch,
): Promise<string | null> {
  let body = '';
  for await (const chunk of request) if (body.length < MAX_BODY_LENGTH) body += chunk;
  const level = LOG_LEVELS.find((name) => name === body.trim());
  if (!level) return `the body is one of ${LOG_LEVELS.join(', ')}`;
  const forMs = span === null ? null : readSpan(span);
  if (forMs === undefined) return 'for is a time span such as 10m, at most 24h';
  logLevel.set(level, forMs);
  return null;
}

function readSpan(text: string): number | undefined {
  try {
    const span = parseDuration(text);
    return span <= MAX_SPAN_MS ? span : undefined;
  } catch {
    return undefined;
  }
}

/** Closes the admin server and its connections; safe if it never listened. */
export async function closeAdminServer(server: Server): Promise<void> {
  if (server.listening) await new Promise((resolve) => server.close(resolve).closeAllConnections());
}
