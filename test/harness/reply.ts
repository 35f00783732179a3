import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A service that gives every request this reply, and records the idempotency keys. */
export async function startReply(status: number, reply: object, headers: Record<string, string> = {}) {
  const keys: unknown[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers['idempotency-key']);
    request.resume();
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(reply));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keys,
    async close() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}
