import type { Markers } from './markers.ts';

/** What an order may hold of people. The contract forbids phones, addresses and e-mails in logs and errors; nothing else of it is there either. */
export const PERSONAL = {
  source_order_id: 'zubayda/first-order/81',
  order_number: 'No. 7/Zubayda',
  name: 'Zubayda Qasimi-Thorne',
  phone: ['050 827 7163', '0508277163', '971508277163'],
  email: 'zubayda.qt@marker.example',
  customer_id: 'customer-zubayda-81',
  address: 'Villa "Marker" 77,\n   at Street 9ب, Al Barsha',
  area: 'Marker Heights',
  item: 'Soup for Zubayda',
  delivery_instructions: 'Gate code 4471#, ask for Zubayda',
  // The name of an unknown member is part of its warning's pointer, so it is stored with that.
  member: 'tel:+971-50-827-7163',
} satisfies Markers;

const ORDER = {
  order_number: PERSONAL.order_number,
  customer: {
    name: PERSONAL.name,
    phone: PERSONAL.phone[0],
    email: PERSONAL.email,
    id: PERSONAL.customer_id,
  },
  address: PERSONAL.address,
  emirate: 'Dubai',
  area: PERSONAL.area,
  items: [{ name: PERSONAL.item, quantity: '2' }],
  delivery_instructions: PERSONAL.delivery_instructions,
};

/** The body of an order with all of it. */
export function markedOrder(source_order_id: string = PERSONAL.source_order_id, rest: object = {}): string {
  return JSON.stringify({ source_order_id, ...ORDER, [PERSONAL.member]: 1, ...rest });
}

/** Likewise, without the member whose name is part of the warning about it, and so of a strict refusal. */
export const STRICT_ORDER = JSON.stringify({ source_order_id: PERSONAL.source_order_id, ...ORDER });

/** The columns that are there to hold it. */
export const MAY_HOLD: Record<string, string[]> = {
  orders: [
    'source_order_id',
    'order_number',
    'customer_name',
    'customer_phone',
    'customer_email',
    'customer_id',
    'address',
    'area',
    'items',
    'delivery_instructions',
    'warnings',
  ],
  receipts: ['source_order_id', 'warnings'],
  receipt_payloads: ['bodies'],
  idempotency_keys: ['idempotency_key'],
  dead_letters: ['source_order_id'],
  // The pointers of warnings, in which a sender's own members are named.
  activity: ['warnings'],
};

/**
 * Makes Postgres refuse what says `<place>:<SQLSTATE>` of itself, and tell all it knows of the row, over several lines, one of which
 * looks like a frame of a stack.
 */
export const TELLTALE_REFUSALS = `
create function refuse() returns trigger language plpgsql as $$
declare
  known text := case tg_argv[0] when 'body' then convert_from((to_jsonb(new)->>'bodies')::bytea, 'UTF8') else to_jsonb(new)::text end;
  code text := substring(known from tg_argv[0] || ':([0-9A-Z]{5})');
begin
  if code is not null then
    raise exception using errcode = code, message = 'refused: ' || known || e'\\n    at ' || known, detail = known, hint = known;
  end if;
  return new;
end $$;
create trigger refuse before insert on orders for each row execute function refuse('order');
create trigger refuse before insert on receipt_payloads for each row execute function refuse('body');
create trigger refuse_claim before update on receipts for each row execute function refuse('claim');
create trigger refuse_review before update on orders for each row execute function refuse('review');
create trigger refuse_redrive before update on receipts for each row when (new.state = 'received') execute function refuse('redrive');
create function misread() returns trigger language plpgsql as $$ begin perform new.address::int; return new; end $$;
create trigger misread before insert on orders for each row when (new.source_order_id like 'misread%') execute function misread();
alter table orders add constraint not_this_one check (source_order_id not like 'unchecked%')`;
