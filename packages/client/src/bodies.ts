import type { Cancellation, CancellationList, Payload } from './types.ts';

const encoder = new TextEncoder();

/**
 * Copies bytes, so that later changes by the caller have no effect. A string is encoded as UTF-8.
 *
 * @throws {TypeError} for half of a surrogate pair, which has no bytes in UTF-8. Encoders would replace it silently.
 */
export function bytesOf(body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  if (typeof body !== 'string') return new Uint8Array(body);
  mustBeWellFormed(body, 'The text');
  return encoder.encode(body);
}

function mustBeWellFormed(text: string, what: string): void {
  if (/\p{Surrogate}/u.test(text))
    throw new TypeError(`${what} contains half of a surrogate pair, which is not a character.`);
}

/** @throws {TypeError} like `bytesOf`. */
export function bytesOfPayload(order: Payload): Uint8Array<ArrayBuffer> {
  return bytesOf(typeof order === 'string' || order instanceof Uint8Array ? order : JSON.stringify(order));
}

/**
 * Formats orders as NDJSON, one order per line.
 *
 * A string, or bytes, is the JSON of one order. Its line breaks become tabs: between JSON tokens the two are equivalent,
 * and inside a JSON string both are invalid. An empty order is sent as `null`, so that it is rejected at its position and
 * not skipped.
 *
 * @throws {TypeError} for anything but a list, and for a string or bytes that are not well-formed.
 */
export function toLines(orders: readonly Payload[]): string {
  if (!Array.isArray(orders)) throw new TypeError('orders must be a list of orders.');
  return orders.map((order, index) => `${lineOf(order, index)}\n`).join('');
}

function lineOf(order: Payload, index: number): string {
  const text =
    order instanceof Uint8Array ? decode(order, index) : typeof order === 'string' ? order : JSON.stringify(order);
  if (!text) return 'null';
  mustBeWellFormed(text, `The order at index ${index}`);
  const line = text.replaceAll(/[\r\n]/g, '\t');
  return /\S/.test(line) ? line : 'null';
}

function decode(order: Uint8Array, index: number): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(order);
  } catch {
    throw new TypeError(`The order at index ${index} is not UTF-8.`);
  }
}

/** Bytes as hexadecimal digits. */
export const toHex = (bytes: ArrayBuffer): string =>
  [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** The idempotency key that follows from a body: its SHA-256. */
export async function contentKeyOf(body: Uint8Array<ArrayBuffer>): Promise<string> {
  return toHex(await crypto.subtle.digest('SHA-256', body));
}

/** The body for one cancellation. */
export function cancellationOf(sourceOrderId: string, reason: string | null | undefined): Cancellation {
  return { source_order_id: sourceOrderId, ...(reason != null && { reason }) };
}

/** The body for a list; a string is the id of an order. */
export function cancellationsOf(orders: readonly (string | Cancellation)[]): CancellationList {
  if (!Array.isArray(orders)) throw new TypeError('orders must be a list of ids or cancellations.');
  return { cancellations: orders.map((order) => (typeof order === 'string' ? cancellationOf(order, null) : order)) };
}
