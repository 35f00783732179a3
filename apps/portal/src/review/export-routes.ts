import { statesOf } from '@orders/database/orders/review-orders.ts';
import { Problem } from '@orders/domain/problems.ts';
import { ofTextFields } from '@orders/domain/text-fields.ts';
import { csvCell } from '@orders/order-files/csv.ts';
import { Router } from 'express';
import Joi from 'joi';
import { recordBy } from '../audit/record.ts';
import { accountIdOf, contextOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { limitConcurrencyPerAccount } from '../fair-limiter.ts';
import { bodyOf } from '../read-request.ts';
import { type ExportedOrder, readExported } from './read-exported.ts';
import { orderIds } from './read-filter.ts';

/** A file format: `head`, the orders with `separator` between them, and `tail`. */
interface ExportFormat {
  headers: Record<string, string>;
  head: string;
  separator: string;
  tail: string;
  encode(order: ExportedOrder): string;
}

const JSON_FORMAT: ExportFormat = {
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
async function encodeExport(
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

type Cell = string | number | null;

const COLUMNS: Record<string, (order: ExportedOrder) => Cell> = {
  order_id: (order) => order.order_id,
  order_number: (order) => order.order_number,
  source_order_id: (order) => order.source_order_id,
  channel: (order) => order.channel,
  source: (order) => order.source?.name ?? null,
  is_test: (order) => String(order.is_test),
  review_state: (order) => order.review_state,
  reviewed_by: (order) => order.reviewed_by,
  reviewed_at: (order) => order.reviewed_at?.toISOString() ?? null,
  received_at: (order) => order.received_at.toISOString(),
  customer_name: (order) => order.customer.name,
  customer_phone: (order) => order.customer.phone,
  customer_email: (order) => order.customer.email,
  customer_id: (order) => order.customer.id,
  address: (order) => order.address,
  area: (order) => order.area,
  emirate: (order) => order.emirate,
  emirate_code: (order) => order.emirate_code,
  ...ofTextFields((name) => (order: ExportedOrder) => order[name]),
  items: (order) => order.items.map(itemText).join('; '),
  total: (order) => order.total,
  currency: (order) => order.currency,
  notes: (order) => order.notes.map(({ text }) => text).join('\n'),
};

const NEW_LINE = '\r\n';
/** Without it, Excel reads the file in the encoding of its locale. */
const BYTE_ORDER_MARK = '\uFEFF';

/** RFC 4180 in UTF-8, with formulas disarmed. */
const CSV: ExportFormat = {
  headers: { 'Content-Type': 'text/csv; charset=utf-8', 'Content-Disposition': 'attachment; filename="orders.csv"' },
  head: BYTE_ORDER_MARK + Object.keys(COLUMNS).join(',') + NEW_LINE,
  separator: '',
  tail: '',
  encode: (order) =>
    Object.values(COLUMNS)
      .map((read) => csvCell(read(order)))
      .join(',') + NEW_LINE,
};

function itemText({ name, quantity, sku }: ExportedOrder['items'][number]): string {
  const text = [quantity === null ? null : `${quantity} ×`, name, sku === null ? null : `[${sku}]`];
  return text.filter((part) => part !== null).join(' ');
}

const FORMATS = { csv: CSV, json: JSON_FORMAT } satisfies Record<string, ExportFormat>;

/** `POST /orders/export`: orders as a file for spreadsheets, or as JSON for the print view. */
export function exportRoutes({ database, runLong }: PortalDeps): Router {
  // An export takes longer than other reads; half of their slots are left for these.
  const limitExports = limitConcurrencyPerAccount(2);
  const router = Router();

  router.post('/orders/export', async (request, response) => {
    const { order_ids, format } = bodyOf<{ order_ids: number[]; format: keyof typeof FORMATS }>(request, {
      order_ids: orderIds,
      format: Joi.valid(...Object.keys(FORMATS)).required(),
    });
    const accountId = accountIdOf(request);
    const ids = [...new Set(order_ids)];
    const file = await limitExports(accountId, () =>
      runLong(request, async () => {
        const found = await statesOf(database, accountId, ids);
        if (found.length < ids.length) throw new Problem('order_not_found');
        const orders = readExported(database, accountId, ids);
        const encoded = await encodeExport(FORMATS[format], orders, contextOf(request).closed);
        // Before the file is sent, so that none goes out unrecorded.
        await recordBy(database, request, {
          accountId,
          action: 'orders_exported',
          subject: `account:${accountId}`,
          details: { count: ids.length, format },
        });
        return encoded;
      }),
    );
    response.set(FORMATS[format].headers).send(file);
  });

  return router;
}
