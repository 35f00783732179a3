import {
  type Database,
  dropOldPartitions,
  makePartitions,
  openKnex,
  pruneRejected,
  removeOldIdempotencyKeys,
  removeOldSignIns,
} from '@orders/database';
import type { Logger } from '@orders/runtime';

/** How long, and how many of each account, refusals stay in the log of rejected deliveries. */
const REJECTED_KEPT_MS = 7 * 24 * 3_600_000;
const REJECTED_KEPT = 500;

/**
 * Makes partitions ahead, drops those past their retention, removes idempotency keys, rejected deliveries and what is left of sign-ins
 * past their time. Harmless in several workers at once.
 */
export async function tendTables(deps: {
  databaseUrl: string;
  database: Database;
  receiptRetention: number;
  idempotencyTtl: number;
  logger: Logger;
}): Promise<void> {
  const knex = openKnex({ url: deps.databaseUrl, applicationName: 'orders upkeep' });
  try {
    const made = await makePartitions(knex);
    await pruneRejected(knex, REJECTED_KEPT_MS, REJECTED_KEPT);
    const { dropped, kept } = await dropOldPartitions(knex, deps.receiptRetention);
    await removeOldSignIns(knex);
    if (made.length > 0) deps.logger.info('partitions made', { made });
    if (dropped.length > 0) deps.logger.info('partitions dropped', { dropped });
    if (kept.length > 0) deps.logger.warn('partitions past their retention hold receipts that are not final', { kept });
  } finally {
    await knex.destroy();
  }
  while ((await removeOldIdempotencyKeys(deps.database, deps.idempotencyTtl)) > 0);
}
