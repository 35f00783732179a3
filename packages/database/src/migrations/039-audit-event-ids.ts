/** Makes the ids of audit events unique, which the chain of decision 030 relies on: a role that may only insert can choose an id. */
export const name = '039-audit-event-ids';

export const up = [
  'drop index concurrently if exists audit_events_by_id',
  `-- safe: ids are generated always, and no version has ever chosen one.
create unique index concurrently audit_events_by_id on audit_events (event_id)`,
  'drop index concurrently if exists audit_events_by_time',
];
