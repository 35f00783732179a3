/** The resends with changes that an account got in the last seconds. */
export const name = '021-resends-by-stored-at';

export const up = [
  'drop index concurrently if exists resends_by_stored_at',
  'create index concurrently resends_by_stored_at on resends (account_id, stored_at) where changes is not null',
];
