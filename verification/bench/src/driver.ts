import { type Connection, openConnection } from '@orders/test-services/load/connection.ts';
import { type Load, type LoadResult, OPEN_CONNECTIONS, runLoad } from '@orders/test-services/load/run-load.ts';
import { type PoliteLoad, type PoliteRun, sendPolitely } from './isolation/polite-sender.ts';
import { createLargeOrderMaker, type OrderSize } from './large-orders.ts';
import { makeOrder } from './make-order.ts';

/** A load of orders named `<prefix>-<number>`, from 0. */
export interface OrdersLoad {
  /** One of each intake. The connections of each key use all of them in rotation. */
  urls: string[];
  apiKeys: string[];
  load: Load;
  seconds: number;
  prefix: string;
  orderSize?: OrderSize | undefined;
}

/** What the process is told: `stop` ends the load of a polite account. */
export type DriverTask = { orders: OrdersLoad } | { polite: PoliteLoad } | 'stop';
/** What it tells: how many requests of a polite account have a reply, and the result. */
export type DriverMessage = { answered: number } | { result: LoadResult | PoliteRun };

// A separate process, so that its CPU time is counted separately and it has no garbage of earlier runs.
const connections: Connection[] = [];

async function sendOrders({ urls, apiKeys, load, seconds, prefix, orderSize }: OrdersLoad): Promise<LoadResult> {
  while (connections.length < (load.connections ?? OPEN_CONNECTIONS)) {
    const [number, keys] = [connections.length, apiKeys.length];
    const url = urls[Math.floor(number / keys) % urls.length] as string;
    const authorization = `Bearer ${apiKeys[number % keys]}`;
    connections.push(openConnection(url, { authorization, 'content-type': 'application/json' }));
  }
  const make = orderSize ? createLargeOrderMaker(orderSize) : makeOrder;
  return runLoad(connections, load, seconds, (number) => ({ body: make(`${prefix}-${number}`, number) }));
}

let stopping = new AbortController();
const tell = (message: DriverMessage) => process.send?.(message);

process.on('message', async (task: DriverTask) => {
  if (task === 'stop') return stopping.abort();
  stopping = new AbortController();
  const result =
    'orders' in task
      ? await sendOrders(task.orders)
      : await sendPolitely(task.polite, stopping.signal, (answered) => tell({ answered }));
  tell({ result });
});
process.on('disconnect', () => process.exit());
