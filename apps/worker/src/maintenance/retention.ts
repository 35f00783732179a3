import { pruneAttempts, removeOrphanedDeliveries } from './prune-deliveries.ts';
import { pruneEvents } from '@orders/database/events/event-logs.ts';
import { removeHeldCancellations } from './remove-held-cancellations.ts';
import { createPartitions } from '@orders/database/partitions/create-partitions.ts';
import { countInDefault } from '@orders/database/partitions/default-partitions.ts';
import { dropOldPartitions, removeLeftovers } from './drop-partitions.ts';
import { removeOldIdempotencyKeys } from './remove-idempotency-keys.ts';
import { pruneRejected } from '@orders/database/rejected-deliveries.ts';
import { pruneSourceActivity } from '@orders/database/sources/activity.ts';
import { removeOldRequests } from '@orders/database/users/portal-requests.ts';
import { removeOldSignIns } from '@orders/database/users/sign-in-attempts.ts';
import type { WorkerConfig } from '../config.ts';
import type { Maintenance } from './maintenance.ts';

/** Interval at which partitions are created and dropped, in milliseconds. */
export const RETENTION_INTERVAL_MS = 600_000;
/** Limits of the log of rejected deliveries: age, and number per account. */
const REJECTED_KEPT_MS = 7 * 24 * 3_600_000;
const REJECTED_KEPT = 500;
/** Limits of the log of delivery attempts: age, and number per endpoint. */
const ATTEMPTS_KEPT_MS = 7 * 24 * 3_600_000;
const ATTEMPTS_KEPT = 1000;
/** Days of counts of deliveries to sources; the portal shows the last seven. */
const SOURCE_ACTIVITY_DAYS = 30;

/**
 * Creates partitions ahead, drops those past their retention, and removes old held cancellations, events, delivery attempts,
 * rejected deliveries, counts of deliveries to sources, expired sign-in data and the requests of the portal's users.
 *
 * @param config retention times in milliseconds.
 */
export async function retain(
  maintenance: Maintenance,
  { RECEIPT_RETENTION: receiptRetention, EVENT_RETENTION }: Pick<WorkerConfig, 'RECEIPT_RETENTION' | 'EVENT_RETENTION'>,
): Promise<void> {
  const { knex, stopping, logger, metrics, step } = maintenance;
  await step('make_partitions', async () => {
    for (const partition of await createPartitions(knex, Date.now(), stopping))
      logger.info('partition created', { partition });
  });
  await step('drop_partitions', async () => {
    const { dropped, kept } = await dropOldPartitions(knex, receiptRetention, stopping);
    for (const partition of dropped) logger.info('partition dropped', { partition });
    if (kept.length > 0) logger.warn('partitions kept past their retention: a receipt is not final', { kept });
    if (dropped.length > 0) await step('remove_leftovers', () => removeLeftovers(knex, stopping));
  });
  await step('count_default_partitions', async () => metrics.inDefaultPartitions.set(await countInDefault(knex)));
  await step('remove_held_cancellations', () => removeHeldCancellations(knex, receiptRetention, stopping));
  await step('prune_events', () => pruneEvents(knex, EVENT_RETENTION, stopping));
  await step('prune_delivery_attempts', () => pruneAttempts(knex, ATTEMPTS_KEPT_MS, ATTEMPTS_KEPT, stopping));
  await step('remove_orphaned_deliveries', () => removeOrphanedDeliveries(knex, stopping));
  await step('prune_rejected_deliveries', () => pruneRejected(knex, REJECTED_KEPT_MS, REJECTED_KEPT));
  await step('prune_source_activity', () => pruneSourceActivity(knex, SOURCE_ACTIVITY_DAYS));
  await step('remove_sign_ins', () => removeOldSignIns(knex));
  await step('remove_portal_requests', () => removeOldRequests(knex));
}

/** @param idempotencyTtl milliseconds. */
export async function removeExpiredKeys(
  { knex, stopping, logger, step }: Maintenance,
  idempotencyTtl: number,
): Promise<void> {
  await step('remove_idempotency_keys', async () => {
    const removed = await removeOldIdempotencyKeys(knex, idempotencyTtl, stopping);
    if (removed > 0) logger.debug('idempotency keys removed', { removed });
  });
}
