-- The words by which reviewers find orders. See docs/decisions/review.md.

-- How words are compared: in lower case, with ASCII digits, Arabic ones without the article, and letters that people write for each other
-- as one. Punctuation that no id contains separates words.
create function fold_words(words text) returns text language sql immutable parallel safe
return replace(
  ' ' || translate(lower(words),
    E'أإآىة٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹\t\n\r\u00a0,;()[]"،؛ـ',
    E'ااايه01234567890123456789             '),
  ' ال', ' ');

-- Words, and the parts of those that have some, such as an e-mail address or Al-Barsha.
create function with_parts(words text) returns text language sql immutable parallel safe
return words || case when words ~ '[-_/#@:]' then ' ' || translate(words, '-_/#@:', '      ') else '' end;

-- The words of an id: the whole, what follows its first separator, and its parts, unless it is too long for anybody to search for one of
-- them, as a UUID is.
create function id_words(id text) returns text language sql immutable parallel safe
return case when length(id) > 30 then id
       else with_parts(id) || ' ' || substr(id, strpos(translate(id, '_/#@:', '-----'), '-') + 1) end;

-- The words of an order, each after its account id: after a colon, a word of the numbers or of what people remember; after a tilde, the
-- digits of the phone number from last to first, so that its end is a prefix; after an equals sign, what the filters search for.
-- It only calls functions that cannot fail: an order without words would keep all later orders of its account from getting theirs.
-- Long texts are cut, as no word may have more than 2046 bytes.
create function order_words(
  account_id integer, source_order_id text, order_number text, customer_name text, customer_phone text, customer_email text,
  customer_id text, address text, area text, items jsonb, channel text, emirate_code text, severity text, source_number integer
) returns tsvector language sql immutable parallel safe
return array_to_tsvector(string_to_array(
  account_id::text || '=' || channel || ',' || coalesce(emirate_code, 'none') || ',' || severity
  || coalesce(' ' || account_id::text || '=' || source_number::text, '')
  || coalesce(' ' || account_id::text || '~' || reverse(translate(split_part(customer_phone, ' ext', 1), '+ -()./', '')), '')
  || replace(
    fold_words(
      id_words(source_order_id)
      -- People search for the platform's id, without the prefix of the source.
      || case when source_order_id ~ '^[a-z0-9-]{1,30}:' then ' ' || id_words(substr(source_order_id, strpos(source_order_id, ':') + 1)) else '' end
      || case when order_number = source_order_id then '' else ' ' || id_words(order_number) end
      || coalesce(' ' || id_words(customer_id), '')
      || with_parts(
        coalesce(' ' || customer_name, '') || coalesce(' ' || customer_email, '')
        || coalesce(' ' || left(address, 300), '') || coalesce(' ' || area, '')
        -- The names and SKUs of the first items.
        || ' ' || left(jsonb_path_query_array(items, '$[0 to 19].* ? (@.type() == "string")')::text, 400))),
    ' ', ' ' || account_id::text || ':'),
  ' '));

-- Words of orders that need review, filled in the background: of all of them up to the account's mark, and of some after it. Words of
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
