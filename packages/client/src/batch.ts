import type { Order } from './types.ts';

/**
 * Orders as NDJSON, each on one line of its own.
 *
 * A text is one order's JSON as it stands; between the tokens of JSON a line break is as good as a blank. What would leave its line empty is
 * sent as `null`, to be refused in its place rather than skipped.
 */
export function toLines(orders: readonly (Order | string)[]): string {
  return orders.map((order) => `${lineOf(order)}\n`).join('');
}

function lineOf(order: Order | string): string {
  const text: string | undefined = typeof order === 'string' ? order : JSON.stringify(order);
  return text?.replaceAll(/[\r\n]+/g, ' ').trim() || 'null';
}
