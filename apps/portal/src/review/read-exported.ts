import { isTestAccount } from '@orders/database/accounts/test-accounts.ts';
import {
  type Decided,
  decidedColumns,
  type OrderJson,
  type OrderRow,
  orderRow,
  TEXT_COLUMNS,
  toJson,
} from '@orders/database/orders/order-rows.ts';
import { type Connection, run } from '@orders/database/run.ts';
import { sourceOf } from '@orders/database/sources/sources.ts';
import { type SourceOfOrder, sourceJson } from '@orders/domain/receipt-json.ts';
import type { Note } from './find-notes.ts';
import { SHOWN_ITEMS } from './find-reviewed-order.ts';

/** The normalized fields of an order, with at most its first 1,000 items, without its payload and warnings. */
export type ExportedOrder = Omit<OrderJson, 'warnings'> &
  Decided & {
    item_count: number;
    /** A test of its platform, or any order of a test account: not to be delivered. */
    is_test: boolean;
    /** Null if it came to no source. */
    source: SourceOfOrder | null;
    /** Oldest first, the newest 100. */
    notes: Note[];
  };

/** Orders per statement, and max bytes of their items, unless a single order has more. */
const CHUNK = { orders: 20, bytes: 262_144 };
const MAX_NOTES = 100;

const ORDERS = `
with found as materialized (
  select wanted.ordinal, o.order_id, o.account_id, o.source_order_id, o.order_number, o.channel, o.receipt_id, o.customer_name,
         o.customer_phone, o.customer_email, o.customer_id, o.address, o.emirate, o.emirate_code, o.area, ${SHOWN_ITEMS},
         jsonb_array_length(o.items) as item_count, o.total, o.currency,
         o.is_test or ${isTestAccount('$1::int')} as is_test,
         ${TEXT_COLUMNS}, '[]'::jsonb as warnings, o.review_state, o.reviewed_by, o.reviewed_at, o.received_at, o.written_at, ${sourceOf('o')} as source
  from unnest($2::bigint[]) with ordinality as wanted(order_id, ordinal)
  cross join lateral (${orderRow('$1::int', 'wanted.order_id')}) as o
), measured as (
  select *, sum(octet_length(items::text)) over (order by ordinal rows unbounded preceding exclude current row) as bytes_before
  from found
)
select * from measured where coalesce(bytes_before, 0) < ${CHUNK.bytes} order by ordinal`;

const NOTES = `
select wanted.order_id, n.note_id, n.at, n.by, n.text
from unnest($2::bigint[]) as wanted(order_id)
cross join lateral (
  select note_id, at, by, text from order_notes
  where account_id = $1::int and order_id = wanted.order_id
  order by note_id desc limit ${MAX_NOTES}
) as n
order by n.note_id`;

/** Yields orders of an account in the given order, in chunks that fit into memory. Unknown ids are left out. */
export async function* readExported(
  connection: Connection,
  accountId: number,
  orderIds: readonly number[],
): AsyncGenerator<ExportedOrder[]> {
  let rest = orderIds;
  let size = 1;
  while (rest.length > 0) {
    const asked = rest.slice(0, size);
    const rows = await run<ExportedRow>(connection, ORDERS, [accountId, asked]);
    const ids = rows.map(({ order_id }) => order_id);
    const notes = await run<Note & { order_id: number }>(connection, NOTES, [accountId, ids]);
    const notesOf = Map.groupBy(notes, ({ order_id }) => order_id);
    yield rows.map((row) => toExported(row, notesOf.get(row.order_id) ?? []));
    const done = rows.at(-1)?.ordinal ?? asked.length;
    rest = rest.slice(done);
    // Few long orders are measured that do not fit.
    size = done < asked.length ? done : Math.min(2 * size, CHUNK.orders);
  }
}

type ExportedRow = OrderRow &
  Decided & { item_count: number; is_test: boolean; source: SourceOfOrder | null; ordinal: number };

function toExported(row: ExportedRow, notes: (Note & { order_id: number })[]): ExportedOrder {
  const { warnings: _, ...order } = toJson(row);
  return {
    ...order,
    item_count: row.item_count,
    is_test: row.is_test,
    ...decidedColumns(row),
    source: sourceJson(row.source),
    notes: notes.map(({ order_id: _order, ...note }) => note),
  };
}
