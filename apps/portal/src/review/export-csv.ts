import type { ExportedOrder } from './read-exported.ts';
import type { ExportFormat } from './export-formats.ts';

type Cell = string | number | null;

const COLUMNS: Record<string, (order: ExportedOrder) => Cell> = {
  order_id: (order) => order.order_id,
  order_number: (order) => order.order_number,
  source_order_id: (order) => order.source_order_id,
  channel: (order) => order.channel,
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
  delivery_instructions: (order) => order.delivery_instructions,
  items: (order) => order.items.map(itemText).join('; '),
  total: (order) => order.total,
  currency: (order) => order.currency,
  notes: (order) => order.notes.map(({ text }) => text).join('\n'),
};

const NEW_LINE = '\r\n';
/** Without it, Excel reads the file in the encoding of its locale. */
const BYTE_ORDER_MARK = '\uFEFF';

/** RFC 4180 in UTF-8, with formulas disarmed. */
export const CSV: ExportFormat = {
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

/** Spreadsheets run such a cell as a formula, also a part of it if they divide cells at semicolons, tabs or line breaks. */
const FORMULA = /^(?=[=+\-@\t\r])|(?=[=+\-@])(?<=[;\t\r\n] *)/g;
/** Such as a phone number in E.164 form or a negative amount; as a formula, it is itself. */
const PLAIN_NUMBER = /^[+-]?\d+(\.\d+)?$/;

function csvCell(value: Cell): string {
  const text = String(value ?? '');
  const safe = PLAIN_NUMBER.test(text) ? text : text.replaceAll(FORMULA, "'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
