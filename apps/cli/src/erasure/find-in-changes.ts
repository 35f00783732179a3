import { FIRST_UUID } from '@orders/database/receipts/uuids.ts';
import type { Difference } from '@orders/domain/compare-orders.ts';
import type { CustomerSearch } from '@orders/domain/customer-search.ts';
import type { OrderChange } from '@orders/domain/edit-order.ts';
import type { Knex } from 'knex';

/** Rows per query; each can be as large as a body. */
const PAGE = 100;

/** Orders whose audit events mention the customer, such as in an edit; their payload may no longer exist. */
export async function findInHistory(db: Knex, accountId: number, search: CustomerSearch): Promise<string[]> {
  const orderIds = new Set<number>();
  for (let after = 0, count = PAGE; count === PAGE; ) {
    const events: { event_id: number; subject: string; details: Details | null }[] = await db('audit_events')
      .where({ account_id: accountId })
      .whereLike('subject', 'order:%')
      .andWhere('event_id', '>', after)
      .orderBy('event_id')
      .limit(PAGE)
      .select('event_id', 'subject', 'details');
    for (const { subject, details } of events)
      if (details && isEventAbout(details, search)) orderIds.add(Number(subject.replace('order:', '')));
    count = events.length;
    after = events.at(-1)?.event_id ?? after;
  }
  return sourceIdsOf(db, accountId, orderIds);
}

/** Orders whose resends mention the customer; the payloads may no longer exist. */
export async function findInResends(db: Knex, accountId: number, search: CustomerSearch): Promise<string[]> {
  const orderIds = new Set<number>();
  for (let after: [number, string] = [0, FIRST_UUID], count = PAGE; count === PAGE; ) {
    const resends: { order_id: number; receipt_id: string; changes: Difference[] }[] = await db('resends')
      .where({ account_id: accountId })
      .whereNotNull('changes')
      .whereRaw('(order_id, receipt_id) > (?::bigint, ?::uuid)', after)
      .orderBy(['order_id', 'receipt_id'])
      .limit(PAGE)
      .select('order_id', 'receipt_id', 'changes');
    for (const { order_id, changes } of resends) {
      const events = changes.map(({ pointer, from, to }) => ({ pointer, before: from, after: to }));
      if (isEventAbout({ changes: events }, search)) orderIds.add(order_id);
    }
    count = resends.length;
    const last = resends.at(-1);
    if (last) after = [last.order_id, last.receipt_id];
  }
  return sourceIdsOf(db, accountId, orderIds);
}

/** Orders whose notes mention the customer. */
export async function findInNotes(db: Knex, accountId: number, search: CustomerSearch): Promise<string[]> {
  const orderIds = new Set<number>();
  for (let after = [0, 0], count = PAGE; count === PAGE; ) {
    const notes: { order_id: number; note_id: number; text: string }[] = await db('order_notes')
      .where({ account_id: accountId })
      .whereRaw('(order_id, note_id) > (?::bigint, ?::bigint)', after)
      .orderBy(['order_id', 'note_id'])
      .limit(PAGE)
      .select('order_id', 'note_id', 'text');
    for (const { order_id, text } of notes) if (search.isMentioned(text)) orderIds.add(order_id);
    count = notes.length;
    const last = notes.at(-1);
    if (last) after = [last.order_id, last.note_id];
  }
  return sourceIdsOf(db, accountId, orderIds);
}

async function sourceIdsOf(db: Knex, accountId: number, orderIds: ReadonlySet<number>): Promise<string[]> {
  const orders = db('orders').where({ account_id: accountId });
  return orders.whereRaw('order_id = any(?::bigint[])', [[...orderIds]]).pluck('source_order_id');
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
