import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ClientOrder } from './sender.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFile(resolve(ROOT, path), 'utf8');

/** Every sample order that there is, half of them as webhooks. */
export async function readSamples(): Promise<ClientOrder[]> {
  const lines = async (path: string) => (await read(path)).trim().split('\n');
  const messy = JSON.parse(await read('packages/domain/test/fixtures/messy.json')) as { payload: object }[];
  const bodies = [
    ...(await lines('packages/domain/test/fixtures/orders.ndjson')),
    ...(await lines('packages/dev-server/src/sample-orders.ndjson')),
    ...messy.map(({ payload }) => JSON.stringify(payload)),
  ];
  return bodies.map((body, at) => ({
    sourceOrderId: JSON.parse(body).source_order_id,
    idempotencyKey: `sample-${at}`,
    route: at % 2 === 0 ? 'orders' : 'webhook',
    body,
  }));
}

/** What no log may show of the orders below. */
export const PERSONAL = ['Zubaida Compose', '+971509876543', '509876543'];

/** The order of this number: of ten one is an earlier one sent again, one another with an earlier one's `source_order_id`. */
export function makeOrder(number: number): ClientOrder {
  if (number % 10 === 3) return makeOrder(number - 3);
  const first = number % 10 === 7 ? number - 6 : number;
  const sourceOrderId = `compose-${first}`;
  return {
    sourceOrderId,
    idempotencyKey: `compose-${number}`,
    route: first % 2 === 0 ? 'orders' : 'webhook',
    body: JSON.stringify({
      source_order_id: sourceOrderId,
      customer: { name: PERSONAL[0], phone: PERSONAL[1] },
      emirate: 'Dubai',
      items: [{ name: 'Soup', quantity: 2 }],
      total: '99.50',
    }),
  };
}
