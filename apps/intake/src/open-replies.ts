import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The replies that are not out yet, and how to see the last of them out. */
export interface OpenReplies {
  begin(response: ServerResponse): void;
  end(response: ServerResponse): void;
  readonly draining: boolean;
  /**
   * Takes no new connection and ends each that is open: behind its reply, where a request is under way; after a second, where none ever
   * came; and after `patienceMs` milliseconds all of them. Resolves when none is left.
   */
  drain(patienceMs: number): Promise<void>;
}

const LOOK_AGAIN_MS = 100;
const UNUSED_MS = 1000;

/** @param server whose connections are watched from now on. */
export function createOpenReplies(server: Server): OpenReplies {
  // By connection, not a set of replies: V8 copies a set that much is added to and deleted from again and again, and what each copy held
  // outlives its request by many garbage collections.
  const open = new Map<Socket, ServerResponse | null>();
  let draining = false;
  server.on('connection', (socket) => {
    open.set(socket, null);
    socket.once('close', () => open.delete(socket));
  });

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
    begin(response) {
      const { socket } = response.req;
      if (open.has(socket)) open.set(socket, response);
      if (draining) endBehindReply(response);
    },
    end(response) {
      const { socket } = response.req;
      if (open.get(socket) === response) open.set(socket, null);
    },
    async drain(patienceMs) {
      draining = true;
      for (const response of open.values()) if (response) endBehindReply(response);
      if (!server.listening) return;
      const closed = new Promise((resolve) => server.close(resolve));
      const idle = setInterval(() => server.closeIdleConnections(), LOOK_AGAIN_MS);
      const unused = setTimeout(closeUnused, UNUSED_MS);
      const force = setTimeout(() => server.closeAllConnections(), patienceMs);
      await closed;
      clearInterval(idle);
      clearTimeout(unused);
      clearTimeout(force);
    },
  };
}
