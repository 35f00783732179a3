import { connect, createServer } from 'node:net';
import { type Listening, listen } from './listen.ts';

/** Its date is two seconds from now, rounded down to a whole second. */
function unavailable(): string {
  const date = new Date(Date.now() + 2000).toUTCString();
  return `HTTP/1.1 503 Service Unavailable\r\nRetry-After: ${date}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
}

/**
 * Starts a proxy with faults. It rejects the first request with a 503 whose Retry-After is a date, forwards the second one but closes the
 * connection in place of the reply, and forwards all further requests.
 */
export async function startLossyProxy(target: string): Promise<Listening> {
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
  const proxy = await listen(server);
  return { ...proxy, url: `${proxy.url}${pathname}`.replace(/\/$/, '') };
}
