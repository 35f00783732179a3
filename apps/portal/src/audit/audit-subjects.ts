import type { AuditEvent } from '@orders/database/audit.ts';
import { type Connection, run } from '@orders/database/run.ts';

/** How people call what an event is about. */
interface AuditSubject {
  /** An order's number, a receipt's `source_order_id`, the URL of an endpoint, or the name of a key, source, account or user. */
  name: string;
  /** An order's customer, or the last four characters of a key. */
  detail: string | null;
}

export type NamedEvent = AuditEvent & {
  /** Null if it no longer exists. */
  about: AuditSubject | null;
  account_name: string | null;
};

/** SQL: $1 to $8 are the accounts and ids of orders, keys, sources and endpoints. */
const FIND = `
select 'order:' || o.order_id as subject, o.order_number as name, o.customer_name as detail
from unnest($1::int[], $2::bigint[]) as wanted(account_id, order_id)
join orders o using (account_id, order_id)
union all
select 'key:' || k.key_id, k.name, k.last_four
from unnest($3::int[], $4::bigint[]) as wanted(account_id, key_id)
join api_keys k using (account_id, key_id)
union all
select 'source:' || s.source_number, s.name, null
from unnest($5::int[], $6::int[]) as wanted(account_id, source_number)
join sources s using (account_id, source_number)
union all
select 'endpoint:' || e.endpoint_number, e.url, null
from unnest($7::int[], $8::int[]) as wanted(account_id, endpoint_number)
join endpoints e using (account_id, endpoint_number)
union all
select 'receipt:' || receipt_id, source_order_id, null from receipts where receipt_id = any($9::uuid[])
union all
select 'account:' || account_id, name, null from accounts where account_id = any($10::int[])
union all
select 'user:' || email, name, null from users where email = any($11::text[])`;

const PATTERNS = {
  order: /^order:(\d{1,15})$/,
  key: /^key:(\d{1,9})$/,
  source: /^source:(\d{1,9})$/,
  endpoint: /^endpoint:(\d{1,9})$/,
  receipt: /^receipt:([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/,
  account: /^account:(\d{1,9})$/,
  user: /^user:(.+)$/,
};

/** Adds the names of orders, receipts, keys, sources, endpoints, accounts and users to events, in one query. */
export async function nameSubjects(connection: Connection, events: readonly AuditEvent[]): Promise<NamedEvent[]> {
  const wanted = (kind: keyof typeof PATTERNS) =>
    events.flatMap(({ account_id, subject }) => {
      const id = PATTERNS[kind].exec(subject)?.[1];
      return id === undefined ? [] : [{ account_id, id }];
    });
  const [orders, keys, sources, endpoints] = [wanted('order'), wanted('key'), wanted('source'), wanted('endpoint')];
  const values = [
    ...[orders, keys, sources, endpoints].flatMap((found) => [
      found.map(({ account_id }) => account_id),
      found.map(({ id }) => id),
    ]),
    wanted('receipt').map(({ id }) => id),
    [...wanted('account').map(({ id }) => Number(id)), ...events.map(({ account_id }) => account_id)],
    wanted('user').map(({ id }) => id),
  ];
  const rows = await run<AuditSubject & { subject: string }>(connection, FIND, values);
  const found = new Map(rows.map(({ subject, name, detail }) => [subject, { name, detail }]));
  return events.map((event) => ({
    ...event,
    about: found.get(event.subject) ?? null,
    account_name: found.get(`account:${event.account_id}`)?.name ?? null,
  }));
}
