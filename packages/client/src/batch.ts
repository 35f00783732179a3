import { mustBeWellFormed } from './bytes.ts';
import type { Order } from './types.ts';

/**
 * Orders as NDJSON, each on one line of its own.
 *
 * A text is one order's JSON as it stands. Its line breaks become tabs: between the tokens of JSON one is as good as
 * the other, and inside a string both are refused. What would leave its line empty is sent as `null`, to be refused in its place rather than skipped.
 *
 * @throws {TypeError} for a text that is not well-formed.
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
