import type { ExportedOrder } from './read-exported.ts';
import { Problem } from '@orders/domain/problems.ts';

/** A file format: `head`, the orders with `separator` between them, and `tail`. */
export interface ExportFormat {
  headers: Record<string, string>;
  head: string;
  separator: string;
  tail: string;
  encode(order: ExportedOrder): string;
}

export const JSON_FORMAT: ExportFormat = {
  headers: { 'Content-Type': 'application/json; charset=utf-8' },
  head: '{"orders":[',
  separator: ',',
  tail: ']}',
  encode: (order) => JSON.stringify(order),
};

/** Max bytes of a file. 1,000 orders of ten items take 3 MB. */
const MAX_MIB = 8;
const MAX_BYTES = MAX_MIB * 2 ** 20;

/**
 * Encodes orders chunk by chunk, so that only the file is in memory as a whole.
 *
 * @param signal its reason is thrown when the client has disconnected.
 * @throws {Problem} `invalid_request` when the file becomes too long.
 */
export async function encodeExport(
  format: ExportFormat,
  chunks: AsyncIterable<ExportedOrder[]>,
  signal: AbortSignal,
): Promise<Buffer> {
  const parts = [Buffer.from(format.head)];
  let bytes = 0;
  for await (const orders of chunks) {
    signal.throwIfAborted();
    const prefix = bytes > 0 ? format.separator : '';
    const part = Buffer.from(prefix + orders.map(format.encode).join(format.separator));
    bytes += part.length;
    if (bytes > MAX_BYTES) throw tooLarge();
    parts.push(part);
  }
  return Buffer.concat([...parts, Buffer.from(format.tail)]);
}

function tooLarge(): Problem {
  const detail = `The file would be larger than ${MAX_MIB} MiB. Export fewer orders at once.`;
  return new Problem('invalid_request', {
    detail,
    errors: [{ pointer: '/order_ids', code: 'export_too_large', detail }],
  });
}
