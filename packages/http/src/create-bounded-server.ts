import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { boundPipelining } from '@orders/runtime/lifecycle/bound-pipelining.ts';

/** Limits of a server; times in milliseconds. */
export interface Bounds {
  MAX_CONNECTIONS: number;
  /** Max time to receive a request; its head gets half of it. */
  REQUEST_TIMEOUT: number;
  /** Max time of a connection without a request, or of a reply that the client does not read. */
  IDLE_TIMEOUT: number;
}

/** Few senders pipeline, and those that do only few requests. */
const MAX_PIPELINED = 8;
/** Accuracy of the timeouts. */
const POLL_INTERVAL_MS = 500;

/**
 * An HTTP server that stays bounded however slow or numerous its clients are. A request that is too slow gets Node's plain 408. A
 * connection beyond `MAX_CONNECTIONS` is closed immediately, with the event `drop`; when few are left, first those that wait longest for
 * the head of a first request.
 *
 * @param options.maxPipelined unanswered requests of one connection; one that sends more is closed.
 */
export function createBoundedServer(
  config: Bounds,
  { maxPipelined = MAX_PIPELINED }: { maxPipelined?: number } = {},
): Server {
  const requestTimeout = Math.ceil(config.REQUEST_TIMEOUT);
  const idleTimeout = Math.ceil(config.IDLE_TIMEOUT);
  const server = createServer({
    requestTimeout,
    // For a first request this counts from the connection, so it also closes connections that never send anything.
    headersTimeout: Math.ceil(requestTimeout / 2),
    keepAliveTimeout: idleTimeout,
    connectionsCheckingInterval: POLL_INTERVAL_MS,
  });
  server.timeout = idleTimeout;
  server.maxConnections = config.MAX_CONNECTIONS;
  closeSilentFirst(server, config.MAX_CONNECTIONS);
  return boundPipelining(server, maxPipelined);
}

/** The share of connections above which those without a request are closed for new ones. */
const NEARLY_FULL = 0.9;

/** Otherwise connections that send half a head would keep all others out until their time-out. */
function closeSilentFirst(server: Server, maxConnections: number): void {
  let open = 0;
  // In the order in which they were opened.
  const silent = new Set<Socket>();
  server.on('connection', (socket) => {
    open += 1;
    if (open > maxConnections * NEARLY_FULL) {
      const [longest] = silent;
      longest?.destroy();
      if (longest) server.emit('drop');
    }
    silent.add(socket);
    socket.once('close', () => {
      open -= 1;
      silent.delete(socket);
    });
  });
  server.prependListener('request', ({ socket }: IncomingMessage) => silent.delete(socket));
}
