import type { Warning } from '@orders/domain/normalize/warnings.ts';
import type { NormalizedOrder, Order } from '@orders/domain/order.ts';
import { itemJson, type SourceOfOrder, sourceJson, warningJson } from '@orders/domain/receipt-json.ts';
import { type Channel, type ReviewState, UNDECIDED } from '@orders/domain/receipt-states.ts';
import { type Blocker, blockersOfDelivery, type Severity } from '@orders/domain/severity.ts';
import { ofTextFields, TEXT_FIELD_NAMES } from '@orders/domain/text-fields.ts';
import { sourceOf } from '../sources/sources.ts';

/** SQL: whether an item has a name or an SKU, from `orders o`. */
const HAS_ITEMS = `jsonb_path_exists(o.items,
  '$[*] ? ((@.name != null && @.name != "") || (@.sku != null && @.sku != ""))')`;

interface SeverityRow {
  severity: Severity;
  customer_phone: string | null;
  address: string | null;
  emirate_code: string | null;
  /** Null if the order can be delivered. */
  has_items: boolean | null;
}

function blockersOfRow(row: SeverityRow): Blocker[] {
  if (row.severity !== 'blocks') return [];
  return blockersOfDelivery({
    phone: row.customer_phone,
    address: row.address,
    emirateCode: row.emirate_code,
    hasItems: row.has_items === true,
  });
}

/** An order in JSON, the same everywhere (contract, section 7). */
export type OrderJson = NormalizedOrder['order'] & {
  order_id: number;
  account_id: number;
  channel: Channel;
  receipt_id: string;
  warnings: Warning[];
  review_state: ReviewState;
  received_at: Date;
  written_at: Date;
};

/** An order in a list, with only the numbers of items and warnings, which can be a thousand times longer. */
export type ListedOrder = Omit<OrderJson, 'items' | 'warnings'> & ListColumns;

/** What a list shows of an order beside its fields. */
export type ListColumns = {
  item_count: number;
  warning_count: number;
  severity: Severity;
  /** Why it cannot be delivered. */
  blockers: Blocker[];
  /** A test of its platform. */
  is_test: boolean;
  /** Null if it came to no source. */
  source: SourceOfOrder | null;
} & Decided;

/** Who confirmed or rejected an order, and when; null while it needs review. */
export type Decided = { reviewed_by: string | null; reviewed_at: Date | null };

type Flat<T extends { customer: Order['customer'] }> = Omit<T, 'customer'> & {
  customer_name: string | null;
  customer_phone: string | null;
  customer_email: string | null;
  customer_id: string | null;
};

export type OrderRow = Flat<OrderJson>;
export type ListedRow = Omit<Flat<ListedOrder>, 'blockers'> & SeverityRow;

/** SQL: the columns of the texts that senders may leave out, from `orders o`. */
export const TEXT_COLUMNS = TEXT_FIELD_NAMES.map((name) => `o.${name}`).join(', ');

/** SQL: the columns of a `ListedRow`, from `orders o`. */
export const LISTED_COLUMNS = `
  o.order_id, o.account_id, o.source_order_id, o.order_number, o.channel, o.receipt_id, o.customer_name, o.customer_phone,
  o.customer_email, o.customer_id, o.address, o.emirate, o.emirate_code, o.area, jsonb_array_length(o.items) as item_count,
  o.total, o.currency, ${TEXT_COLUMNS}, jsonb_array_length(o.warnings) as warning_count, o.review_state,
  o.reviewed_by, o.reviewed_at, o.received_at, o.written_at, ${sourceOf('o')} as source,
  o.severity, o.is_test, case when o.severity = 'blocks' then ${HAS_ITEMS} end as has_items`;

export function toListed(row: ListedRow): ListedOrder {
  return {
    ...beforeItems(row),
    ...afterItems(row),
    ...afterWarnings(row),
    ...listColumns(row),
  };
}

export function listColumns(row: ListedRow): ListColumns {
  return {
    item_count: row.item_count,
    warning_count: row.warning_count,
    severity: row.severity,
    blockers: blockersOfRow(row),
    is_test: row.is_test,
    source: sourceJson(row.source),
    ...decidedColumns(row),
  };
}

/** The columns of an undecided order name who reopened it. */
export function decidedColumns({
  review_state,
  reviewed_by,
  reviewed_at,
}: Decided & { review_state: ReviewState }): Decided {
  return UNDECIDED.includes(review_state) ? { reviewed_by: null, reviewed_at: null } : { reviewed_by, reviewed_at };
}

export function toJson(row: OrderRow): OrderJson {
  return {
    ...beforeItems(row),
    items: row.items.map(itemJson),
    ...afterItems(row),
    warnings: row.warnings.map(warningJson),
    ...afterWarnings(row),
  };
}

// Three functions, so that the JSON members are always in the same order.
type Common = Omit<OrderRow, 'items' | 'warnings'>;

function beforeItems(row: Common) {
  return {
    order_id: row.order_id,
    account_id: row.account_id,
    source_order_id: row.source_order_id,
    order_number: row.order_number,
    channel: row.channel,
    receipt_id: row.receipt_id,
    customer: { name: row.customer_name, phone: row.customer_phone, email: row.customer_email, id: row.customer_id },
    address: row.address,
    emirate: row.emirate,
    emirate_code: row.emirate_code,
    area: row.area,
  };
}

function afterItems(row: Common) {
  return { total: row.total, currency: row.currency, ...ofTextFields((name) => row[name]) };
}

function afterWarnings({ review_state, received_at, written_at }: Common) {
  return { review_state, received_at, written_at };
}

/** The fields that senders provide. */
export function toOrder(stored: OrderJson): Order {
  const { source_order_id, order_number, customer, address, emirate, emirate_code, area } = stored;
  const { items, total, currency } = stored;
  const texts = ofTextFields((name) => stored[name]);
  const location = { address, emirate, emirate_code, area };
  return { source_order_id, order_number, customer, ...location, items, total, currency, ...texts };
}

/** SQL: a subquery for the order with this account and id. `offset 0` makes it a look-up by the primary key in any join. */
export const orderRow = (accountId: string, orderId: string) => `
  select * from orders where account_id = ${accountId} and order_id = ${orderId} offset 0`;

/** SQL: a subquery for the order with this account and `source_order_id`, with the columns that intake may read. */
export const orderOfKey = (accountId: string, sourceOrderId: string) => `
  select o.* from (
    select order_id from order_keys where account_id = ${accountId} and source_order_id = ${sourceOrderId} offset 0
  ) as k
  cross join lateral (
    select order_id, receipt_id, received_at, review_state from orders
    where account_id = ${accountId} and order_id = k.order_id offset 0
  ) as o`;
