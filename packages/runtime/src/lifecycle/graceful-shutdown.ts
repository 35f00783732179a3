import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Ends a server without cutting off a reply. */
export interface GracefulShutdown {
  readonly draining: boolean;
  /**
   * Starts draining but keeps serving for `delayMs` milliseconds, until load balancers have noticed. Each reply from now on closes its
   * connection, so that no connection with incoming requests is left to be cut off.
   */
  announce(delayMs: number): Promise<void>;
  /**
   * Stops accepting connections and closes each open one: after its reply if it has a request in flight, after one second if it never
   * sent anything, and in any case after `timeoutMs` milliseconds. Resolves when none is left.
   */
  drain(timeoutMs: number): Promise<void>;
}

const POLL_INTERVAL_MS = 100;
const UNUSED_TIMEOUT_MS = 1000;

/** The statuses that Node itself sends for invalid or slow requests; everything else gets 400. */
const PLAIN_STATUSES: Record<string, string> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
};

/** @param server its connections and requests are tracked from now on, so call this before adding request handlers. */
export function createGracefulShutdown(server: Server): GracefulShutdown {
  // A map by connection, not a set of responses: V8 rehashes a set with many additions and deletions, and the old tables keep finished
  // responses alive for many garbage collections.
  const connections = new Map<Socket, ServerResponse | null>();
  let draining = false;
  server.on('connection', (socket) => {
    connections.set(socket, null);
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', ({ socket }, response) => {
    if (connections.has(socket)) connections.set(socket, response);
    if (draining) closeAfterReply(response);
    response.once('close', () => {
      if (connections.get(socket) === response) connections.set(socket, null);
    });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const response = connections.get(socket);
    // After invalid bytes, a complete request before them must still get its reply: its order may already be stored.
    if (response?.req.complete) closeAfterReply(response);
    else rejectRequest(socket, error, response?.headersSent ?? false);
  });
  server.on('timeout', (socket) => {
    // A client that waits for its reply may be idle. A client that does not read its reply is disconnected.
    if (!connections.get(socket) || socket.writableLength > 0) socket.destroy();
  });

  function rejectRequest(socket: Socket, error: NodeJS.ErrnoException, isAnswered: boolean): void {
    const status = PLAIN_STATUSES[error.code ?? ''] ?? '400 Bad Request';
    if (socket.writable && !isAnswered) socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
    socket.destroy(error);
  }

  function closeAfterReply(response: ServerResponse): void {
    if (!response.headersSent) response.setHeader('Connection', 'close');
  }

  // Node treats a connection that never sent anything as one with a request in flight, and would wait for it.
  function closeUnused(): void {
    for (const socket of connections.keys()) if (socket.bytesRead === 0) socket.destroy();
  }

  return {
    get draining() {
      return draining;
    },
    async announce(delayMs) {
      draining = true;
      for (const response of connections.values()) if (response) closeAfterReply(response);
      await sleep(delayMs);
      // Read what has already arrived before connections are classified as idle or in use.
      await new Promise(setImmediate);
    },
    async drain(timeoutMs) {
      draining = true;
      if (!server.listening) return;
      const closed = new Promise((resolve) => server.close(resolve));
      const idle = setInterval(() => server.closeIdleConnections(), POLL_INTERVAL_MS);
      const unused = setTimeout(closeUnused, UNUSED_TIMEOUT_MS);
      const force = setTimeout(() => server.closeAllConnections(), timeoutMs);
      await closed;
      clearInterval(idle);
      clearTimeout(unused);
      clearTimeout(force);
    },
  };
}
