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
  // The unfinished responses by connection, in the order of their requests. Not one set of responses: V8 rehashes a set with many
  // additions and deletions, and the old tables keep finished responses alive for many garbage collections.
  const connections = new Map<Socket, ServerResponse[]>();
  let draining = false;
  server.on('connection', (socket) => {
    connections.set(socket, []);
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', ({ socket }, response) => {
    const unfinished = connections.get(socket) ?? [];
    unfinished.push(response);
    if (draining) closeAfterReply(response);
    response.once('close', () => unfinished.splice(unfinished.indexOf(response), 1));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const unfinished = connections.get(socket) ?? [];
    // Complete requests before invalid or slow bytes must still get their replies, and not this one: their orders may already be stored.
    const complete = unfinished.findLast(({ req }) => req.complete);
    if (complete) closeAfterReply(complete);
    else rejectRequest(socket, error, unfinished.at(-1)?.headersSent ?? false);
  });
  server.on('timeout', (socket) => {
    // A client that waits for its reply may be idle. A client that does not read its reply is disconnected.
    if (!connections.get(socket)?.length || socket.writableLength > 0) socket.destroy();
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
      for (const unfinished of connections.values()) {
        const newest = unfinished.at(-1);
        if (newest) closeAfterReply(newest);
      }
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
