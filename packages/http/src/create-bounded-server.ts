import { createServer, type Server } from 'node:http';
import { boundPipelining } from '@orders/runtime';

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
 * connection beyond `MAX_CONNECTIONS` is closed immediately, with the event `drop`.
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
  return boundPipelining(server, maxPipelined);
}
