-- Accounts that move to another installation. See docs/operating/move-account.md.

-- What `orders accounts move` has done, in the installation that the account leaves, so that it goes on there after an interruption.
create table account_moves (
  account_id  integer primary key references accounts,
  -- The account and its test account, if it has one.
  account_ids integer[] not null,
  -- The base URL of intake of the other installation.
  to_url      text not null,
  -- copying: replicated, while the account works. closed: nothing new is accepted, and the rest is processed and copied. compared: both
  -- sides have the same. switched: the account belongs to the other installation, and cannot come back. undoing: what was copied is removed.
  step        text not null check (step in ('copying', 'closed', 'compared', 'switched', 'done', 'undoing')),
  -- Nothing is left to be processed, so triggers reject new rows.
  is_drained  boolean not null default false,
  started_at  timestamptz not null default now(),
  -- The users that the other installation lacked.
  user_ids    text[] not null default '{}'
);

-- What a trigger on these tables does with rows of accounts that are being moved, or were: whatever a process knew of the account before, it
-- changes nothing here. Of audit entries, those about people and their reading are recorded, and what changes the copy that stays.
-- Without the rights of the owner, as a role that makes a partition of receipts must be able to run it.
create function reject_row_of_moved_account() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  if tg_table_name = 'audit_events' then
    if new.subject like 'user:%' or new.action in ('personal_data_read', 'orders_exported') then return new; end if;
    -- Commands of the owner, who alone reads this column.
    if new.action in ('account_moved', 'order_erased', 'orders_archived', 'signing_resealed') then
      if exists (select from accounts where account_id = new.account_id and moved_to is not null) then return new; end if;
    end if;
  end if;
  raise exception 'this account is moved to another installation' using errcode = 'object_in_use';
end
$$;
