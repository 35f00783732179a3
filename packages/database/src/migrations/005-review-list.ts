/**
 * What the list of orders that need review is read by, and why an order was rejected. Decision 012 describes it.
 */
export const name = '005-review-list';

export const up = `
alter table orders add column review_reason text;

create index orders_needing_review on orders (account_id, order_id) where review_state = 'needs_review';
create index orders_reviewed on orders (account_id, review_state, order_id) where review_state <> 'needs_review';

-- How words are compared: in lower case, the Arabic ones without article, and with the letters that people write one for the other as one.
create function fold_words(words text) returns text language sql immutable parallel safe
return replace(' ' || translate(lower(words), E'أإآىة\\t\\n\\u00a0ـ', 'ااايه   '), ' ال', ' ');

-- The words of an id: its parts, unless it is too long for anybody to look for one of them, as a UUID is.
create function id_words(id text) returns text language sql immutable parallel safe
return case when length(id) > 30 then id else translate(id, '-_/#', '    ') end;

-- The words that an order is found by, each with its account before it. What follows a colon is a word of its name or numbers; a tilde,
-- the digits of the phone number from the last to the first, so that its end is a prefix; an equals sign, what the filters ask for.
-- Only functions that cannot fail: behind an order whose words cannot be made, no other of its account would get any.
create function order_words(
  account_id integer, source_order_id text, order_number text, customer_name text, customer_phone text,
  channel text, emirate_code text, warnings jsonb
) returns tsvector language sql immutable parallel safe
return array_to_tsvector(string_to_array(
  account_id::text || '=' || channel || ',' || coalesce(emirate_code, 'none') || case when warnings = '[]' then ',no' else ',yes' end
  || coalesce(' ' || account_id::text || '~' || reverse(translate(split_part(customer_phone, ' ext', 1), '+ -()./', '')), '')
  || replace(
    fold_words(
      id_words(source_order_id)
      || case when order_number = source_order_id then '' else ' ' || id_words(order_number) end
      || coalesce(' ' || translate(customer_name, '-_/#', '    '), '')),
    ' ', ' ' || account_id::text || ':'),
  ' '));

-- The words of orders that need review, made in the background: for each of them up to the account's mark, and some behind it. Some may be
-- left of orders that were reviewed meanwhile. No foreign key: it would lock the orders.
create table order_words (
  account_id integer not null,
  order_id   bigint not null,
  words      tsvector not null,
  primary key (account_id, order_id)
);
create index order_words_by_word on order_words using gin (words) with (fastupdate = on, gin_pending_list_limit = 256);

create table order_words_marks (
  account_id integer primary key,
  filled_to  bigint not null
);
`;
