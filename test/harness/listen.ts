import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { closeAtEnd } from './close-at-end.ts';

/** A server of a test. */
export interface Listening {
  port: number;
  /** For HTTP, without a path. */
  url: string;
  /** Ends its connections too. */
  close(): Promise<void>;
}

/** Listens on 127.0.0.1, by default on a free port, until the end of the test file. */
export async function listen(server: Server, port = 0): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => {})));
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const bound = (server.address() as AddressInfo).port;
  return closeAtEnd({
    port: bound,
    url: `http://127.0.0.1:${bound}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  });
}
