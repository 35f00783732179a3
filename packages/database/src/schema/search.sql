-- The words by which reviewers find orders. See docs/decisions/review.md.

-- Letters that people write for each other become one, digits become ASCII, and punctuation that no id contains becomes a space. As few
-- calls as possible: translate() compares each letter with all of its list, and most texts are ASCII.
create function fold_arabic(words text) returns text language sql immutable parallel safe
return replace(replace(replace(replace(replace(replace(replace(replace(replace(
  case when words ~ '[٠-٩۰-۹]' then translate(words, '٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹', '01234567890123456789') else words end,
  'أ', 'ا'), 'إ', 'ا'), 'آ', 'ا'), 'ى', 'ي'), 'ة', 'ه'), 'ـ', ''), E'\u00a0', ' '), '،', ' '), '؛', ' ');

create function fold_letters(words text) returns text language plpgsql immutable parallel safe as $$
begin
  words := regexp_replace(lower(words), '[\t\n\r,;()[\]"]', ' ', 'g');
  return case when octet_length(words) = length(words) then words else fold_arabic(words) end;
end
$$;

create function without_articles(words text) returns text language sql immutable parallel safe
return replace(' ' || words, ' ال', ' ');

-- The parts of words such as an e-mail address, Al-Barsha or an id.
create function parts_of(words text) returns text language sql immutable parallel safe
return replace(replace(replace(replace(replace(replace(words, '-', ' '), '_', ' '), '/', ' '), '#', ' '), '@', ' '), ':', ' ');

-- The words of an id: the whole, its parts, and what follows its first separator, unless it is too long for anybody to search for a part,
-- as a UUID is.
create function id_words(id text) returns text language sql immutable parallel safe
return case when length(id) > 30 or not id ~ '[-_/#@:]' then id
       else id || ' ' || parts_of(id) || ' ' || substr(id, strpos(parts_of(id), ' ') + 1) end;

-- The words of an order, each after its account id: after a colon, a word of the numbers or of what people remember; after a tilde, the
-- digits of the phone number from last to first, so that its end is a prefix; after an equals sign, what the filters search for.
-- It only calls functions that cannot fail: an order without words would keep all later orders of its account from getting theirs.
-- Long texts are cut, as no word may have more than 2046 bytes.
create function order_words(
  account_id integer, source_order_id text, order_number text, customer_name text, customer_phone text, customer_email text,
  customer_id text, address text, area text, items jsonb, channel text, emirate_code text, severity text, source_number integer,
  payment_state text, delivery_method text, is_test boolean
) returns tsvector language plpgsql immutable parallel safe as $$
declare
  words text := fold_letters(concat_ws(' ', customer_name, customer_email, left(address, 300), area,
    -- The names and SKUs of the first items.
    left(jsonb_path_query_array(items, '$[0 to 19].* ? (@.type() == "string")')::text, 400)));
  -- People search for the platform's id, without the prefix of the source.
  platform_id text := substring(source_order_id, '^[a-z0-9-]{1,30}:(.*)$');
  id text;
begin
  if words ~ '[-_/#@:]' then words := words || ' ' || parts_of(words); end if;
  foreach id in array array[source_order_id, platform_id, nullif(order_number, source_order_id), customer_id] loop
    continue when id is null;
    id := fold_letters(id);
    words := words || ' ' || id_words(id);
  end loop;
  return array_to_tsvector(string_to_array(
    concat(account_id, '=', channel, ',', coalesce(emirate_code, 'none'), ',', severity,
      ' ' || account_id || '=' || source_number,
      ' ' || account_id || '=' || payment_state,
      case when delivery_method = 'pickup' then ' ' || account_id || '=pickup' end,
      case when is_test then ' ' || account_id || '=test' end,
      ' ' || account_id || '~' || reverse(translate(split_part(customer_phone, ' ext', 1), '+ -()./', '')))
    || replace(without_articles(words), ' ', ' ' || account_id || ':'),
    ' '));
end
$$;

-- Words of orders that need review, filled in the background: of all of them up to the account's mark, and of some after it. Words of
-- orders that were reviewed meanwhile may remain. No foreign key: it would lock the orders.
create table order_words (
  account_id integer not null,
  order_id   bigint not null,
  words      tsvector not null,
  primary key (account_id, order_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);
create index order_words_by_word on order_words using gin (words) with (fastupdate = on, gin_pending_list_limit = 256);

-- Sets the words of an order, for functions that change one.
create function update_order_words(of_account integer, of_order bigint) returns void language sql as $$
  insert into order_words (account_id, order_id, words)
  select account_id, order_id, order_words(account_id, source_order_id, order_number, customer_name, customer_phone, customer_email, customer_id,
                                           address, area, items, channel, emirate_code, severity, source_number,
                                           payment_state, delivery_method, is_test)
  from orders where account_id = of_account and order_id = of_order
  on conflict (account_id, order_id) do update set words = excluded.words;
$$;

create table order_words_marks (
  account_id integer primary key,
  filled_to  bigint not null
);
