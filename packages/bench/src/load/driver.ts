import { type Connection, openConnection } from './connection.ts';
import { type Load, type LoadResult, OPEN_CONNECTIONS, runLoad } from './run-load.ts';

/** A request to the driver process, which replies with a `LoadResult`. */
export interface LoadRequest {
  url: string;
  apiKeys: string[];
  load: Load;
  seconds: number;
  prefix: string;
}

// A separate process, so that its CPU time is counted separately and it has no garbage of earlier runs.
const connections: Connection[] = [];

process.on('message', async (order: LoadRequest) => {
  const count = order.load.connections ?? OPEN_CONNECTIONS;
  while (connections.length < count) {
    const key = order.apiKeys[connections.length % order.apiKeys.length] as string;
    connections.push(openConnection(order.url, key));
  }
  const result: LoadResult = await runLoad(connections, order.load, order.seconds, order.prefix);
  process.send?.(result);
});
process.on('disconnect', () => {
  for (const connection of connections) connection.close();
});
