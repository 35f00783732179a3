import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/**
 * A proxy with faults. It rejects the first request with a 503 whose Retry-After is a date. It forwards the second request but closes the
 * connection in place of the reply. It forwards all further requests.
 */
export interface LossyProxy {
  url: string;
  close(): Promise<void>;
}

/** Its date is two seconds from now, rounded down to a whole second. */
function unavailable(): string {
  const date = new Date(Date.now() + 2000).toUTCString();
  return `HTTP/1.1 503 Service Unavailable\r\nRetry-After: ${date}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
}

/** @param target the URL of the service. */
export async function startLossyProxy(target: string): Promise<LossyProxy> {
  const { hostname, port, pathname } = new URL(target);
  let hasRejected = false;
  let hasLostReply = false;
  const server = createServer((client) => {
    if (!hasRejected) {
      hasRejected = true;
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
      if (hasLostReply) client.write(reply);
      else client.destroy();
      hasLostReply = true;
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
