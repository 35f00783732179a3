/** The prefix of a source's order ids, so that two sources of an account never make one order of two. Decision 027. */
export const name = '057-source-prefixes';

export const up = `
-- used_at: when it first took an order or a cancellation. From then on the prefix stays.
alter table sources add column id_prefix text not null default '', add column used_at timestamptz;

-- safe: it makes words as before, and more of ids with a prefix: the platform's id behind the colon is what people search for.
create or replace function id_words(id text) returns text language sql immutable parallel safe
return case when length(id) > 30 then id else translate(id, '-_/#', '    ') end
  || case
    when id !~ '^[a-z0-9-]{1,30}:' then ''
    when length(id) - strpos(id, ':') > 30 then ' ' || substr(id, strpos(id, ':') + 1)
    else ' ' || translate(substr(id, strpos(id, ':') + 1), '-_/#', '    ')
  end;
`;
