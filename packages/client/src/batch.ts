import { mustBeWellFormed } from './bytes.ts';
import type { Order } from './types.ts';

/**
 * Formats orders as NDJSON, one order per line.
 *
 * A string is the JSON of one order. Its line breaks become tabs: between JSON tokens the two are equivalent, and inside
 * a JSON string both are invalid. An empty order is sent as `null`, so that it is rejected at its position and not
 * skipped.
 *
 * @throws {TypeError} for a string that is not well-formed.
 */
export function toLines(orders: readonly (Order | string)[]): string {
  return orders.map((order, index) => `${lineOf(order, index)}\n`).join('');
}

function lineOf(order: Order | string, index: number): string {
  const text: string | undefined = typeof order === 'string' ? order : JSON.stringify(order);
  if (!text) return 'null';
  mustBeWellFormed(text, `The order at index ${index}`);
  const line = text.replaceAll(/[\r\n]/g, '\t');
  return /\S/.test(line) ? line : 'null';
}
