import { isUtf8 } from 'node:buffer';
import { Problem } from '@orders/domain/problems.ts';
import { mapOrder } from '@orders/domain/sources/map-order.ts';
import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import { parseDelivery } from '@orders/domain/sources/read-delivery.ts';
import { type Location, MAX_ORDER_BYTES, type ReadOrder, unsendable } from '@orders/order-files/read-order.ts';
import { Failure } from '../errors.ts';

const [QUOTE, BACKSLASH, COMMA, NEWLINE, RETURN, SPACE] = [0x22, 0x5c, 0x2c, 0x0a, 0x0d, 0x20] as const;
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d] as const;
const BLANK = /^[ \t\r]*$/;

/** Reads one order per line; skips empty lines. */
export async function* readNdjson(chunks: AsyncIterable<Buffer>): AsyncGenerator<ReadOrder> {
  let [line, end] = [0, 0];
  for await (const bytes of linesOf(chunks)) {
    line += 1;
    end += bytes.length + 1;
    if (!isBlank(bytes)) yield sourceOrder(bytes, { line, end });
  }
}

/** Lines without their line breaks; the last one may have none. */
export async function* linesOf(chunks: AsyncIterable<Buffer>, maxBytes = MAX_ORDER_BYTES): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let pending = 0;
  let line = 1;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const piece = chunk.subarray(start, end);
      yield pieces.length === 0 ? piece : Buffer.concat([...pieces, piece]);
      pieces = [];
      pending = 0;
      line += 1;
      start = end + 1;
    }
    if (start === chunk.length) continue;
    pieces.push(chunk.subarray(start));
    pending += chunk.length - start;
    if (pending > maxBytes) throw new Failure(`line ${line} is longer than 16 MiB: is this NDJSON, one order a line?`);
  }
  if (pending > 0) yield Buffer.concat(pieces);
}

function isBlank(bytes: Buffer): boolean {
  return bytes[0] !== OPEN_OBJECT && bytes.length < 1000 && BLANK.test(bytes.toString('latin1'));
}

/**
 * Reads the elements of a JSON array, or a sequence of objects, as their original text. It only counts brackets and quotes, so that only
 * one order is in memory and no number loses digits. The service validates the elements.
 */
export async function* readJson(chunks: AsyncIterable<Buffer>): AsyncGenerator<ReadOrder> {
  let line = 1;
  let depth = 0;
  let inText = false;
  let escaped = false;
  // The depth of the orders: 1 in an array, 0 in a sequence of objects; null before the first character.
  let base: 0 | 1 | null = null;
  let hasEnded = false;
  let pieces: Buffer[] = [];
  let pending = 0;
  let startLine = 0;
  // Bytes of the chunks before.
  let before = 0;

  function take(last: Buffer, end: number): ReadOrder {
    const bytes = Buffer.concat([...pieces, last]);
    pieces = [];
    pending = 0;
    const order = sourceOrder(onOneLine(bytes), { line: startLine, end });
    startLine = 0;
    return order;
  }

  for await (const chunk of chunks) {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (byte === NEWLINE) line += 1;
      if (inText) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inText = false;
        continue;
      }
      if (byte <= SPACE) continue;
      if (hasEnded) throw new Failure(`line ${line}: there is more after the end of the array.`);
      if (base === null) {
        base = byte === OPEN_ARRAY ? 1 : 0;
        if (base === 1) {
          depth = 1;
          start = at + 1;
          continue;
        }
      }
      const isBetween = depth === base && (base === 1 ? byte === COMMA || byte === CLOSE_ARRAY : byte === COMMA);
      if (isBetween) {
        if (startLine > 0) yield take(chunk.subarray(start, at), before + at);
        start = at + 1;
        if (byte === CLOSE_ARRAY) hasEnded = true;
        continue;
      }
      if (startLine === 0) {
        startLine = line;
        start = at;
      }
      if (byte === QUOTE) inText = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth += 1;
      else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        depth = Math.max(base, depth - 1);
        if (base === 0 && depth === 0) {
          yield take(chunk.subarray(start, at + 1), before + at + 1);
          start = at + 1;
        }
      }
    }
    before += chunk.length;
    if (startLine === 0) continue;
    pieces.push(chunk.subarray(start));
    pending += chunk.length - start;
    if (pending > MAX_ORDER_BYTES)
      throw new Failure(`the order at line ${startLine} is longer than 16 MiB: a quote or a bracket is missing there.`);
  }
  if (startLine > 0) yield take(Buffer.alloc(0), before);
  if (base === 1 && !hasEnded) yield unsendable({ line, end: before }, 'The file ends in the middle of its array.');
}

/** A line break is white space outside of strings and invalid JSON inside, so a space may replace it. */
function onOneLine(bytes: Buffer): Buffer {
  if (!bytes.includes(NEWLINE) && !bytes.includes(RETURN)) return bytes;
  return Buffer.from(bytes.map((byte) => (byte === NEWLINE || byte === RETURN ? SPACE : byte)));
}

/** Creates an order from the bytes of its JSON, which the service validates. */
function sourceOrder(bytes: Buffer, location: Location): ReadOrder {
  // Decoding would replace invalid bytes, so two different ids could become equal.
  if (!isUtf8(bytes)) return unsendable(location, 'The order is not UTF-8.');
  const text = bytes.toString('utf8');
  return { ...location, text, sourceOrderId: sourceOrderIdOf(text) };
}

/** The order that a mapping makes of an object. What is not one JSON object stays as it is, so that the service rejects it. */
export function mapDocument(order: ReadOrder, mapping: OrderMapping): ReadOrder {
  try {
    const payload = mapOrder(parseDelivery(Buffer.from(order.text)), mapping);
    const { source_order_id: id } = payload;
    return { ...order, text: JSON.stringify(payload), sourceOrderId: typeof id === 'string' ? id : null };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return order;
  }
}

function sourceOrderIdOf(text: string): string | null {
  try {
    const id: unknown = JSON.parse(text)?.source_order_id;
    return typeof id === 'string' ? id : null;
  } catch {
    return null;
  }
}
