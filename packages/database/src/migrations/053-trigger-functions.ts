/** Only triggers run the functions that act with the owner's rights. A role could otherwise make a trigger of its own with one of them. */
export const name = '053-trigger-functions';

export const up = `
-- safe: triggers that exist need no such right.
revoke all on function record_duplicate_events(), record_dead_events(), record_order_events(), queue_audit_events(),
  mark_erased_audit_event(), add_membership_of_user() from public;
`;
