import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The replies that are not out yet, and how to see the last of them out. */
export interface OpenReplies {
  add(response: ServerResponse): void;
  delete(response: ServerResponse): void;
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
  const open = new Set<ServerResponse>();
  const sockets = new Set<Socket>();
  let draining = false;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  function endBehindReply(response: ServerResponse): void {
    if (!response.headersSent) response.setHeader('Connection', 'close');
  }

  // Node counts a connection on which nothing ever came as one with a request under way, and would wait for it.
  function closeUnused(): void {
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  }

  return {
    get draining() {
      return draining;
    },
    add(response) {
      open.add(response);
      if (draining) endBehindReply(response);
    },
    delete: (response) => void open.delete(response),
    async drain(patienceMs) {
      draining = true;
      for (const response of open) endBehindReply(response);
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
