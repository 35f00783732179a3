import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/** An address that leads to a service, and loses its first reply: the connection breaks when that would come. */
export interface LosingFront {
  url: string;
  close(): Promise<void>;
}

/** @param target the address of the service. */
export async function startLosingFront(target: string): Promise<LosingFront> {
  const { hostname, port, pathname } = new URL(target);
  let lost = false;
  const server = createServer((client) => {
    const service = connect(Number(port), hostname);
    const end = () => {
      client.destroy();
      service.destroy();
    };
    client.on('error', end).on('close', end);
    service.on('error', end).on('close', end);
    client.pipe(service);
    service.on('data', (reply) => {
      if (lost) client.write(reply);
      else client.destroy();
      lost = true;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname === '/' ? '' : pathname}`,
    async close() {
      server.close();
      await once(server, 'close');
    },
  };
}
