import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** The replies that are not out yet, which no connection is cut off before, and how to see the last of them out. */
export interface OpenReplies {
  readonly draining: boolean;
  /**
   * Says that this process is about to go, and serves as before for `delayMs` milliseconds: a load balancer sends new requests for as long
   * as it has not noticed. Each reply from now on ends its connection, so that none on which requests still come is left to be cut off.
   */
  announce(delayMs: number): Promise<void>;
  /**
   * Takes no new connection and ends each that is open: behind its reply, where a request is under way; after a second, where none ever
   * came; and after `timeoutMs` milliseconds all of them. Resolves when none is left.
   */
  drain(timeoutMs: number): Promise<void>;
}

const POLL_INTERVAL_MS = 100;
const UNUSED_MS = 1000;

/** What Node itself answers to what is no HTTP, or comes too slowly; all else is a plain 400. */
const PLAIN_ANSWERS: Record<string, string> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
};

/** @param server whose connections and requests are watched from now on, so before anything answers these. */
export function createOpenReplies(server: Server): OpenReplies {
  // By connection, not a set of replies: V8 copies a set that much is added to and deleted from again and again, and what each copy held
  // outlives its request by many garbage collections.
  const open = new Map<Socket, ServerResponse | null>();
  let draining = false;
  server.on('connection', (socket) => {
    open.set(socket, null);
    socket.once('close', () => open.delete(socket));
  });
  server.on('request', ({ socket }, response) => {
    if (open.has(socket)) open.set(socket, response);
    if (draining) endBehindReply(response);
    response.once('close', () => {
      if (open.get(socket) === response) open.set(socket, null);
    });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const response = open.get(socket);
    // What comes behind a whole request must not cost that request its reply: its order may be stored by now.
    if (response?.req.complete) endBehindReply(response);
    else refuse(socket, error, response?.headersSent ?? false);
  });
  server.on('timeout', (socket) => {
    // One that waits for its reply may be silent; one that does not take it may not.
    if (!open.get(socket) || socket.writableLength > 0) socket.destroy();
  });

  function refuse(socket: Socket, error: NodeJS.ErrnoException, isAnswered: boolean): void {
    const status = PLAIN_ANSWERS[error.code ?? ''] ?? '400 Bad Request';
    if (socket.writable && !isAnswered) socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
    socket.destroy(error);
  }

  function endBehindReply(response: ServerResponse): void {
    if (!response.headersSent) response.setHeader('Connection', 'close');
  }

  // Node counts a connection on which nothing ever came as one with a request under way, and would wait for it.
  function closeUnused(): void {
    for (const socket of open.keys()) if (socket.bytesRead === 0) socket.destroy();
  }

  return {
    get draining() {
      return draining;
    },
    async announce(delayMs) {
      draining = true;
      for (const response of open.values()) if (response) endBehindReply(response);
      await sleep(delayMs);
      // What came by now is read before an idle connection is told from one with a request on it.
      await new Promise(setImmediate);
    },
    async drain(timeoutMs) {
      draining = true;
      if (!server.listening) return;
      const closed = new Promise((resolve) => server.close(resolve));
      const idle = setInterval(() => server.closeIdleConnections(), POLL_INTERVAL_MS);
      const unused = setTimeout(closeUnused, UNUSED_MS);
      const force = setTimeout(() => server.closeAllConnections(), timeoutMs);
      await closed;
      clearInterval(idle);
      clearTimeout(unused);
      clearTimeout(force);
    },
  };
}
