import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Serves at most `max` requests of one connection at once, and ends a connection that sends more without waiting for replies. Browsers and
 * proxies do not pipeline. Without a limit a few connections could have any number of requests waiting.
 */
export function limitPipelining(max: number, serve: RequestListener): RequestListener {
  const underWay = new WeakMap<Socket, number>();
  return (request, response) => {
    const { socket } = request;
    // One chunk may hold hundreds of requests, and all of them are read.
    if (socket.destroyed) return;
    const count = (underWay.get(socket) ?? 0) + 1;
    if (count > max) {
      socket.destroy();
      return;
    }
    underWay.set(socket, count);
    response.once('close', () => underWay.set(socket, (underWay.get(socket) ?? 1) - 1));
    serve(request, response);
  };
}
