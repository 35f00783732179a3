-- The words by which reviewers find orders. See docs/decisions/review.md.

-- How words are compared: in lower case, with ASCII digits, letters that people write for each other as one, and Arabic words without
-- tatweel, diacritics and the article. The conditions spare most texts slow functions.
create function fold_words(words text) returns text language plpgsql immutable parallel safe as $$
begin
  words := translate(lower(words), E'\t\n\r', '   ');
  if octet_length(words) > length(words) then
    words := regexp_replace(translate(words, E'أإآٱىة\u00a0', 'اااايه '), '[ـ\u064b-\u0652\u0670]', '', 'g');
    if words ~ '[٠-٩۰-۹０-９]' then
      words := translate(words, '٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹０１２３４５６７８９', '012345678901234567890123456789');
    end if;
  end if;
  return replace(' ' || words, ' ال', ' ');
end
$$;

-- The words of an order, each after its account id: after a colon, a word of its ids and texts; after a tilde, the digits of the phone
-- number from last to first, so that its end is a prefix; after an equals sign, what the filters search for.
-- Texts are split like searches (search-query.ts). Only 4,000 characters of them count, and 200 of a word, which is the length of a search.
-- It only calls functions that cannot fail: an order without words would keep all later orders of its account from getting theirs.
create function order_words(
  account_id integer, source_order_id text, order_number text, customer_name text, customer_phone text, customer_email text,
  customer_id text, address text, area text, items jsonb, channel text, emirate_code text, warnings jsonb
) returns tsvector language plpgsql immutable parallel safe as $$
declare
  id text;
  whole text := coalesce(customer_email, '');
  texts text := '';
  words text;
begin
  -- Of an id with the prefix of a source, also the platform's id. Nobody searches for a part of a long id, as a UUID is.
  foreach id in array array[
    source_order_id, substring(source_order_id from '^[a-z0-9-]{1,30}:(.*)'), nullif(order_number, source_order_id), customer_id
  ] loop
    if length(id) > 30 then
      whole := whole || ' ' || id;
    elsif id is not null then
      texts := texts || ' ' || id;
    end if;
  end loop;
  texts := left(
    concat_ws(' ', texts, customer_name, customer_email, area, address,
      -- As JSON, whose escapes are undone.
      replace(replace(concat(jsonb_path_query_array(items, '$[*].name'), jsonb_path_query_array(jsonb_strip_nulls(items), '$[*].sku')),
                      '\"', ' '), '\\', '\')),
    4000);
  words := fold_words(whole || ' ' || regexp_replace(texts, '[-_/#,.:;@+()\[\]{}"|،؛]+', ' ', 'g'));
  if octet_length(words) > 2000 then
    words := regexp_replace(words, '([^ ]{200})[^ ]+', '\1', 'g');
  end if;
  return array_to_tsvector(array_remove(
    string_to_array(
      account_id || '=' || channel || ',' || coalesce(emirate_code, 'none') || case when warnings = '[]' then ',no' else ',yes' end
      || coalesce(' ' || account_id || '~' || reverse(translate(split_part(customer_phone, ' ext', 1), '+ -()./', '')), '')
      || replace(words, ' ', ' ' || account_id || ':'),
      ' '),
    account_id || ':'));
end
$$;

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
