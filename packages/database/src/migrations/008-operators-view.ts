/**
 * What the operator's pages are read by. When a user last signed in was read from the sessions before, which are removed when they have
 * ended. The audit trail is read over all accounts too, by time, by who, and by what, and dead letters by time.
 */
export const name = '008-operators-view';

export const up = `
alter table users add column last_signed_in_at timestamptz;
update users u set last_signed_in_at = (select max(s.created_at) from user_sessions s where s.user_id = u.id);

create index audit_events_by_time on audit_events (event_id);
create index audit_events_by_actor on audit_events (actor, event_id);
-- A subject is of one account, nearly always, so that this serves one account as well.
drop index audit_events_by_subject;
create index audit_events_by_subject on audit_events (subject, event_id);

create index dead_letters_by_time on dead_letters (died_at, receipt_id);
`;
