/**
 * Autovacuum by default waits until a fifth of a table is dead: of a billion idempotency keys that is 200 million, and of an outbox that is
 * empty most of the time it is nothing to go by.
 */
export const name = '013-autovacuum';

export const up = `
alter table idempotency_keys set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
-- safe: such settings take a lock that neither readers nor writers wait for.
alter table outbox set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_threshold = 100000, autovacuum_vacuum_cost_delay = 0);
-- safe: such settings take a lock that neither readers nor writers wait for.
alter table orders set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.01);
-- safe: such settings take a lock that neither readers nor writers wait for.
alter table order_words set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);
`;
