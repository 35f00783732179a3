-- The words by which reviewers find orders. See docs/decisions/review.md.

-- How words are compared: in lower case, Arabic ones without the article, and letters that people write for each other as one.
create function fold_words(words text) returns text language sql immutable parallel safe
return replace(' ' || translate(lower(words), E'أإآىة\t\n\u00a0ـ', 'ااايه   '), ' ال', ' ');

-- The words of an id: its parts, unless it is too long for anybody to search for one of them, as a UUID is. Of an id with the prefix of
-- a source also those of the platform's id behind the colon, which is what people search for.
create function id_words(id text) returns text language sql immutable parallel safe
return case when length(id) > 30 then id else translate(id, '-_/#', '    ') end
  || case
    when id !~ '^[a-z0-9-]{1,30}:' then ''
    when length(id) - strpos(id, ':') > 30 then ' ' || substr(id, strpos(id, ':') + 1)
    else ' ' || translate(substr(id, strpos(id, ':') + 1), '-_/#', '    ')
  end;

-- The words of an order, each after its account id: after a colon, a word of the name or the numbers; after a tilde, the digits of the
-- phone number from last to first, so that its end is a prefix; after an equals sign, what the filters search for.
-- It only calls functions that cannot fail: an order without words would keep all later orders of its account from getting theirs.
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

-- The words of orders that need review, filled in the background: of all of them up to the account's mark, and of some after it. Words of
-- orders that were reviewed meanwhile may remain. No foreign key: it would lock the orders.
create table order_words (
  account_id integer not null,
  order_id   bigint not null,
  words      tsvector not null,
  primary key (account_id, order_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);
create index order_words_by_word on order_words using gin (words) with (fastupdate = on, gin_pending_list_limit = 256);

create table order_words_marks (
  account_id integer primary key,
  filled_to  bigint not null
);
