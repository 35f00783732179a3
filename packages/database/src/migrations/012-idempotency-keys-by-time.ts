/**
 * Idempotency keys are removed by their age. A BRIN index serves that only while rows lie in the order of their age; from the second TTL
 * on new keys take the places of removed ones, and it then reads the whole table to find nothing.
 */
export const name = '012-idempotency-keys-by-time';

export const up = [
  'drop index concurrently if exists idempotency_keys_by_time',
  'create index concurrently idempotency_keys_by_time on idempotency_keys (created_at)',
  'drop index concurrently if exists idempotency_keys_by_age',
];
