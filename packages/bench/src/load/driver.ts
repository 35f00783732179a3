import { type Connection, openConnection } from './connection.ts';
import { type Load, type LoadResult, OPEN_CONNECTIONS, runLoad } from './run-load.ts';

/** What the runner asks the driver's process to do; it answers each with a `LoadResult`. */
export interface LoadOrder {
  url: string;
  apiKeys: string[];
  load: Load;
  seconds: number;
  prefix: string;
}

// A process of its own, so that what it costs is counted for itself and no earlier run has left it anything to collect.
const connections: Connection[] = [];

process.on('message', async (order: LoadOrder) => {
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
