import { createServer, type Server } from 'node:http';

/** What senders may take of a server; times in milliseconds. */
export interface Bounds {
  MAX_CONNECTIONS: number;
  /** How long a request may take to come whole; its head has half of that. */
  REQUEST_TIMEOUT: number;
  /** How long a connection may be without a request, or a reply without being taken. */
  IDLE_TIMEOUT: number;
}

/** A timeout is kept to within this. */
const POLL_INTERVAL_MS = 500;

/**
 * The HTTP server, with bounds for what senders may take of it however slow or many they are. What comes too slowly gets Node's plain 408;
 * a connection beyond `MAX_CONNECTIONS` is closed at once, and told by the event `drop`.
 */
export function createBoundedServer(config: Bounds): Server {
  const requestTimeout = Math.ceil(config.REQUEST_TIMEOUT);
  const idleTimeout = Math.ceil(config.IDLE_TIMEOUT);
  const server = createServer({
    requestTimeout,
    // Counted from the connection on where it is the first request, so this ends those on which nothing ever comes too.
    headersTimeout: Math.ceil(requestTimeout / 2),
    keepAliveTimeout: idleTimeout,
    connectionsCheckingInterval: POLL_INTERVAL_MS,
  });
  server.timeout = idleTimeout;
  server.maxConnections = config.MAX_CONNECTIONS;
  return server;
}
