/** The tables with rows of accounts, by how `orders accounts move` treats them; a test compares them with the schema. */

/** Replicated while the account works, as they are large and nothing acts on them in the other installation. */
export const REPLICATED = [
  'idempotency_keys',
  'receipts',
  'receipt_payloads',
  'dead_letters',
  'orders',
  'order_keys',
  'changed_deliveries',
  'order_notes',
  'order_prints',
  'order_snoozes',
  'audit_events',
  'events',
  'delivery_attempts',
  'rejected_deliveries',
  'source_mappings',
  'source_activity',
] as const;

/** Copied once the account is closed: small, or something the other installation would act on or count by itself. */
export const COPIED = [
  'api_keys',
  'signing_secrets',
  'sources',
  'cancellation_requests',
  'event_logs',
  'endpoints',
  'waiting_deliveries',
  'activity',
] as const;

/** Copied for the persons of the same e-mail address in the other installation. */
export const OF_PEOPLE = ['memberships', 'review_views'] as const;

/** Terms of the search, which a worker makes again from the orders. */
export const SEARCH_TERMS = ['order_words', 'order_words_marks'] as const;

/** What stays, and why. */
export const STAYING: Record<string, string> = {
  accounts: 'its row is made by the move, closed until the switch',
  account_moves: 'the record of moves from here',
  invitations: 'their links are those of the portal here',
  review_presence: 'who looks at an order at this moment',
  order_words: 'made again from the orders',
  order_words_marks: 'made again from the orders',
  undispatched_orders: 'empty once the account is drained',
  unpublished_events: 'empty once the account is drained',
  dispatch_log: 'its positions are of this installation, where dispatching systems have read them',
};

/** Columns of accounts that say whether one is open, and so differ between the two sides. */
export const OF_ITS_SIDE = ['suspended_at', 'moving_since', 'moved_to'] as const;

/** Columns that change with no change of what they tell, left out of hashes. */
export const IGNORED: Record<string, readonly string[]> = {
  api_keys: ['last_used_at'],
  signing_secrets: ['last_used_at'],
  activity: ['computed_at', 'settled', 'reopened'],
};

/** Their rows tell of each change that a process can make for an account, so triggers on them keep a closed account as it is. */
export const GUARDED = ['receipts', 'order_keys', 'audit_events', 'order_notes', 'review_views'] as const;
