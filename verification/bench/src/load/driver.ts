import { type Connection, openConnection } from './connection.ts';
import { createLargeOrderMaker, type OrderSize } from './large-orders.ts';
import { makeOrder } from './make-order.ts';
import { type Load, type LoadResult, OPEN_CONNECTIONS, runLoad } from './run-load.ts';

/** A request to the driver process, which replies with a `LoadResult`. */
export interface LoadRequest {
  /** One of each intake. The connections of each key use all of them in rotation. */
  urls: string[];
  apiKeys: string[];
  load: Load;
  seconds: number;
  prefix: string;
  orderSize?: OrderSize | undefined;
}

// A separate process, so that its CPU time is counted separately and it has no garbage of earlier runs.
const connections: Connection[] = [];

process.on('message', async (request: LoadRequest) => {
  const count = request.load.connections ?? OPEN_CONNECTIONS;
  while (connections.length < count) {
    const [number, keys] = [connections.length, request.apiKeys.length];
    const url = request.urls[Math.floor(number / keys) % request.urls.length] as string;
    connections.push(openConnection(url, request.apiKeys[number % keys] as string));
  }
  const make = request.orderSize ? createLargeOrderMaker(request.orderSize) : makeOrder;
  const result: LoadResult = await runLoad(connections, request.load, request.seconds, request.prefix, make);
  process.send?.(result);
});
process.on('disconnect', () => {
  for (const connection of connections) connection.close();
});
