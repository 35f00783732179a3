/** Changes to operators that wait for the approval of another operator. Decision 031. */
export const name = '045-operator-changes';

export const up = `
-- Only changes that wait for a decision. The audit trail records the decisions.
create table operator_changes (
  change_id      integer generated always as identity primary key,
  kind           text not null check (kind in ('invite', 'reset_password', 'remove', 'end_sessions', 'reset_second_factor')),
  email          text not null check (email = lower(email)),
  -- Null for somebody who is no user yet.
  target_user_id text references users on delete cascade,
  requested_by   text not null references users on delete cascade,
  requested_at   timestamptz not null default now(),
  expires_at     timestamptz not null default now() + interval '7 days'
);
create unique index operator_changes_by_kind on operator_changes (email, kind);
create index operator_changes_by_target on operator_changes (target_user_id);
create index operator_changes_by_requester on operator_changes (requested_by);
`;
