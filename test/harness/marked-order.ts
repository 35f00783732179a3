/** Personal data of an order. The contract forbids phones, addresses and e-mails in logs and errors; the tests forbid the rest too. */
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
  delivery_time: 'When Zubayda is back from Zayed Street',
  delivery_instructions: 'Gate code 4471#, ask for Zubayda',
  details: 'Gift card: For Zubayda, from her aunt',
  // The name of an unknown member is part of its warning's pointer, so it is stored with the warning.
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
  delivery_time: PERSONAL.delivery_time,
  delivery_instructions: PERSONAL.delivery_instructions,
  details: PERSONAL.details,
};

/** The body of an order with all of `PERSONAL`. */
export function markedOrder(source_order_id: string = PERSONAL.source_order_id, rest: object = {}): string {
  return JSON.stringify({ source_order_id, ...ORDER, [PERSONAL.member]: 1, ...rest });
}

/** The same without the unknown member: its name would be in the reply of strict handling. */
export const STRICT_ORDER = JSON.stringify({ source_order_id: PERSONAL.source_order_id, ...ORDER });

/** The columns that may contain personal data. */
export const ALLOWED_COLUMNS: Record<string, string[]> = {
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
    'delivery_time',
    'delivery_instructions',
    'details',
    'warnings',
    'review_reason',
  ],
  // The reason of a held cancellation.
  order_keys: ['source_order_id', 'held_reason'],
  cancellation_requests: ['reason'],
  // The reasons of rejections and cancellations.
  audit_events: ['details'],
  receipts: ['source_order_id', 'warnings'],
  receipt_payloads: ['bodies'],
  idempotency_keys: ['idempotency_key'],
  dead_letters: ['source_order_id'],
  sources: ['source_id'],
  endpoints: ['url'],
  // Of the details only the reasons of rejections and cancellations.
  events: ['source_order_id', 'details'],
  unpublished_events: ['source_order_id', 'details'],
  // The pointers of warnings contain the names of a sender's own members.
  activity: ['warnings'],
};

/**
 * SQL: triggers that reject a row with a given SQLSTATE if it contains `<place>:<SQLSTATE>`. The error quotes the whole row, over several
 * lines, one of which looks like a stack frame.
 */
export const VERBOSE_REJECTIONS = `
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
create trigger refuse before insert on order_keys for each row when (new.order_id is null) execute function refuse('order');
create trigger refuse before insert on receipt_payloads for each row execute function refuse('body');
create trigger refuse_claim before update on receipts for each row execute function refuse('claim');
create trigger refuse_review before update on orders for each row execute function refuse('review');
create trigger refuse_redrive before update on receipts for each row when (new.state = 'received') execute function refuse('redrive');
create function misread() returns trigger language plpgsql as $$ begin perform new.address::int; return new; end $$;
create trigger misread before insert on orders for each row when (new.source_order_id like 'misread%') execute function misread();
alter table orders add constraint not_this_one check (source_order_id not like 'unchecked%')`;

/** Strings that a test searches for, by name; a name can have several spellings. */
export type Markers = Record<string, string | string[]>;

/** The names of the markers that a text contains, in any form of `formsOf`. */
export function findMarkers(haystack: string, markers: Markers): string[] {
  const searched = haystack.toLowerCase();
  const holds = (spelling: string) => formsOf(spelling).some((form) => searched.includes(form));
  return Object.keys(markers).filter((name) => [markers[name] ?? []].flat().some(holds));
}

/**
 * The usual encodings of a text: plain, escaped in JSON, in JSON within JSON, percent-encoded, and the first two in hex and base64. All in
 * lower case.
 */
export function formsOf(text: string): string[] {
  const json = escaped(text);
  const ascii = json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const url = encodeURIComponent(text);
  const plain = [text, json, escaped(json), ascii, escaped(ascii), url, url.replaceAll('%20', '+')];
  const encoded = [text, json].flatMap((one) => [Buffer.from(one).toString('hex'), ...base64Within(Buffer.from(one))]);
  return [...new Set([...plain, ...encoded].map((form) => form.toLowerCase()))];
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Base64 of bytes at any position in longer data: the characters that do not depend on the surrounding bytes. */
function base64Within(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const before = [0, 2, 3][offset];
    const isWhole = (offset + bytes.length) % 3 === 0;
    const base64 = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const own = base64.slice(before, isWhole ? undefined : -1);
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
