import { FIRST_UUID } from '@orders/database/receipts/uuids.ts';
import { type Connection, run } from '@orders/database/run.ts';
import type { Difference } from '@orders/domain/compare-orders.ts';
import type { CustomerSearch } from '@orders/domain/customer-search.ts';
import type { OrderChange } from '@orders/domain/edit-order.ts';

/** Rows per query; each can be as large as a body. */
const PAGE = 100;

/** Yields the rows of a statement, page by page. @param keyOf the values from $2 on after which the next page begins. */
async function* readPages<Row extends object>(
  connection: Connection,
  statement: string,
  { accountId, first, keyOf }: { accountId: number; first: unknown[]; keyOf: (row: Row) => unknown[] },
): AsyncGenerator<Row> {
  for (let after = first, count = PAGE; count === PAGE; ) {
    const rows: Row[] = await run<Row>(connection, `${statement} limit ${PAGE}`, [accountId, ...after]);
    yield* rows;
    count = rows.length;
    const last = rows.at(-1);
    if (last) after = keyOf(last);
  }
}

/** Orders whose audit events mention the customer, such as in an edit; their payload may no longer exist. */
export async function findInHistory(
  connection: Connection,
  accountId: number,
  search: CustomerSearch,
): Promise<string[]> {
  const events = readPages<{ event_id: number; order_id: number; details: Details | null }>(
    connection,
    `select event_id, order_id, details from audit_events
     where account_id = $1 and order_id is not null and event_id > $2 order by event_id`,
    { accountId, first: [0], keyOf: ({ event_id }) => [event_id] },
  );
  const orderIds = new Set<number>();
  for await (const { order_id, details } of events)
    if (details && isEventAbout(details, search)) orderIds.add(order_id);
  return sourceIdsOf(connection, accountId, orderIds);
}

/** Orders whose changed deliveries mention the customer; the payloads may no longer exist. */
export async function findInChangedDeliveries(
  connection: Connection,
  accountId: number,
  search: CustomerSearch,
): Promise<string[]> {
  const resends = readPages<{ order_id: number; receipt_id: string; changes: Difference[] }>(
    connection,
    `select order_id, receipt_id, changes from changed_deliveries
     where account_id = $1 and changes is not null and (order_id, receipt_id) > ($2::bigint, $3::uuid)
     order by order_id, receipt_id`,
    { accountId, first: [0, FIRST_UUID], keyOf: ({ order_id, receipt_id }) => [order_id, receipt_id] },
  );
  const orderIds = new Set<number>();
  for await (const { order_id, changes } of resends) {
    const events = changes.map(({ pointer, from, to }) => ({ pointer, before: from, after: to }));
    if (isEventAbout({ changes: events }, search)) orderIds.add(order_id);
  }
  return sourceIdsOf(connection, accountId, orderIds);
}

/** Orders whose notes, or the reason of their snooze, mention the customer. */
export async function findInNotes(
  connection: Connection,
  accountId: number,
  search: CustomerSearch,
): Promise<string[]> {
  const notes = readPages<{ order_id: number; note_id: number; text: string }>(
    connection,
    `select order_id, note_id, text from order_notes
     where account_id = $1 and (order_id, note_id) > ($2::bigint, $3::bigint) order by order_id, note_id`,
    { accountId, first: [0, 0], keyOf: ({ order_id, note_id }) => [order_id, note_id] },
  );
  const orderIds = new Set<number>();
  for await (const { order_id, text } of notes) if (search.isMentioned(text)) orderIds.add(order_id);
  const snoozes = readPages<{ order_id: number; reason: string }>(
    connection,
    `select order_id, reason from order_snoozes
     where account_id = $1 and reason is not null and order_id > $2 order by order_id`,
    { accountId, first: [0], keyOf: ({ order_id }) => [order_id] },
  );
  for await (const { order_id, reason } of snoozes) if (search.isMentioned(reason)) orderIds.add(order_id);
  return sourceIdsOf(connection, accountId, orderIds);
}

/** The ids of orders that have not arrived and whose held cancellation mentions the customer in its reason. */
export async function findInHeldCancellations(
  connection: Connection,
  accountId: number,
  search: CustomerSearch,
): Promise<string[]> {
  const held = readPages<{ source_order_id: string; held_reason: string }>(
    connection,
    `select source_order_id, held_reason from order_keys
     where account_id = $1 and order_id is null and held_reason is not null and source_order_id > $2 order by source_order_id`,
    { accountId, first: [''], keyOf: ({ source_order_id }) => [source_order_id] },
  );
  const ids: string[] = [];
  for await (const { source_order_id, held_reason } of held)
    if (search.isMentioned(held_reason)) ids.push(source_order_id);
  return ids;
}

async function sourceIdsOf(
  connection: Connection,
  accountId: number,
  orderIds: ReadonlySet<number>,
): Promise<string[]> {
  const orders = await run<{ source_order_id: string }>(
    connection,
    'select source_order_id from orders where account_id = $1 and order_id = any($2::bigint[])',
    [accountId, [...orderIds]],
  );
  return orders.map(({ source_order_id }) => source_order_id);
}

type Details = { changes?: OrderChange[]; reason?: string };

const CUSTOMER = /^\/customer\/(phone|email|id)$/;

function isEventAbout({ changes = [], reason }: Details, search: CustomerSearch): boolean {
  return (
    search.isMentioned(reason) ||
    changes.some(({ pointer, before, after }) => {
      const [, member] = CUSTOMER.exec(pointer) ?? [];
      // With the field's name, which tells the search what the digits mean.
      const field = pointer.slice(pointer.lastIndexOf('/') + 1);
      if (search.isMentioned([{ [field]: before }, { [field]: after }])) return true;
      return member && [before, after].some((value) => search.isCustomer({ [member]: value }));
    })
  );
}
