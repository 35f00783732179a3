import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a Postgres that can be cut, as a network is. */
export interface Link {
  /** The URL of the Postgres by this way. */
  url: string;
  /** Ends all connections, and lets no new one through. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

/** @param to the URL of the Postgres. */
export async function startLink(to: string): Promise<Link> {
  const target = new URL(to);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    if (isCut) return client.destroy();
    const service = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [client, service],
      [service, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket) && other.destroy());
    }
    return client.pipe(service).pipe(client);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: Object.assign(new URL(to), { port: String((server.address() as AddressInfo).port) }).href,
    cut,
    mend() {
      isCut = false;
    },
    async close() {
      cut();
      await once(server.close(), 'close');
    },
  };
}
