import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/** An address that leads to a service. It refuses the first request with a dated 503, as a proxy may, and loses the reply to the second: the connection breaks when that would come. */
export interface LosingFront {
  url: string;
  close(): Promise<void>;
}

/** The date is two seconds ahead, and in whole seconds. */
function unavailable(): string {
  const date = new Date(Date.now() + 2000).toUTCString();
  return `HTTP/1.1 503 Service Unavailable\r\nRetry-After: ${date}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
}

/** @param target the address of the service. */
export async function startLosingFront(target: string): Promise<LosingFront> {
  const { hostname, port, pathname } = new URL(target);
  let refused = false;
  let lost = false;
  const server = createServer((client) => {
    if (!refused) {
      refused = true;
      client.on('error', () => client.destroy()).once('data', () => client.end(unavailable()));
      return;
    }
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
