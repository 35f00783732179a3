import { once } from 'node:events';
import { connect } from 'node:net';
import type { Order } from './ledger.ts';
import { pick, type Random } from './random.ts';
import { makeRequest } from './request.ts';

const MAX_PAUSE_MS = 20;

/**
 * Sends all orders at the same time on separate connections that the client closes in the head, in the body, or between
 * the request and its reply.
 */
export async function cutRequests(urls: readonly string[], orders: readonly Order[], random: Random): Promise<void> {
  await Promise.all(
    orders.map((order, index) => {
      const { path, headers, body } = makeRequest(order, index % 2 ? 'webhook' : 'rest');
      const { host, hostname, port } = new URL(pick(random, urls));
      const fields = Object.entries({ host, ...headers, 'content-length': String(Buffer.byteLength(body)) });
      const head = `POST ${path} HTTP/1.1\r\n${fields.map((field) => field.join(': ')).join('\r\n')}\r\n\r\n`;
      const parts = [
        head.slice(0, Math.floor(random() * head.length)),
        head + body.slice(0, Math.floor(random() * body.length)),
        head + body,
      ];
      return cutOff(hostname, Number(port), parts[index % parts.length] as string, random() * MAX_PAUSE_MS);
    }),
  );
}

async function cutOff(host: string, port: number, text: string, pauseMs: number): Promise<void> {
  const socket = connect({ host, port });
  const closed = once(socket, 'close').catch(() => {});
  socket.on('error', () => {});
  socket.write(text, () => setTimeout(() => socket.destroy(), pauseMs));
  await closed;
}
