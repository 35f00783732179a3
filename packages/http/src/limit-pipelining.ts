import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Serves at most `max` concurrent requests per connection, and closes a connection that pipelines more. Browsers and proxies do not
 * pipeline; without a limit a few connections could queue any number of requests.
 */
export function limitPipelining(max: number, serve: RequestListener): RequestListener {
  const inFlight = new WeakMap<Socket, number>();
  return (request, response) => {
    const { socket } = request;
    // One chunk may contain hundreds of requests, which are still parsed after the socket is destroyed.
    if (socket.destroyed) return;
    const count = (inFlight.get(socket) ?? 0) + 1;
    if (count > max) {
      socket.destroy();
      return;
    }
    inFlight.set(socket, count);
    response.once('close', () => inFlight.set(socket, (inFlight.get(socket) ?? 1) - 1));
    serve(request, response);
  };
}
