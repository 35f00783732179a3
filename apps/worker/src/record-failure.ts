import type { Database } from '@orders/database/connect.ts';
import { isDamage, sqlstateOf } from '@orders/database/database-errors.ts';
import type { Warning } from '@orders/domain/normalize/warnings.ts';
import type { AttemptErrorCode } from '@orders/domain/receipt-json.ts';
import type { Producer } from '@orders/queue/open-producer.ts';
import { backoff } from '@orders/runtime/concurrency/timers.ts';
import { describeError } from '@orders/runtime/observability/describe-error.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import type { WorkerMetrics } from './metrics.ts';
import { failReceipt } from './receipts/fail-receipt.ts';
import { logFields } from './trace-batch.ts';
import { wakeUpLater } from './wake-up-later.ts';
import type { WorkerBatch } from './worker-batch.ts';

/** When a failed receipt is retried; times in milliseconds. */
interface RetrySchedule {
  /** Total attempts before the receipt is dead. */
  attempts: number;
  base: number;
  cap: number;
}

/** Records a failed attempt of one receipt and schedules the wake-up for the next one. */
export type RecordFailure = (
  batch: WorkerBatch,
  receipt: { receiptId: string; attempts: number; warnings: Warning[] },
  error: unknown,
) => Promise<void>;

export function createRecordFailure(deps: {
  database: Database;
  producer: Producer;
  retries: RetrySchedule;
  metrics: WorkerMetrics;
  logger: Logger;
}): RecordFailure {
  const { database, producer, retries, metrics, logger } = deps;
  return async (batch, { receiptId, attempts, warnings }, error) => {
    const sqlstate = sqlstateOf(error);
    const code = codeOf(error);
    const description = describeError(error, { stack: code === 'unexpected_error' });
    const delayMs = backoff(attempts, retries);
    const failed = await failReceipt(database, {
      receiptId,
      leaseId: batch.leaseId,
      delayMs,
      maxAttempts: retries.attempts,
      error: { code, sqlstate, constraint: description.constraint ?? null },
      warnings,
    });
    if (failed === null) return;
    const { state, isTest } = failed;
    // Alerts read these counts, and nobody is to be called because of a test.
    if (!isTest) metrics.outcomes.inc({ outcome: state });
    const next = state === 'failed' ? { next_attempt_in_ms: Math.round(delayMs) } : {};
    logger.warn(`receipt ${state}`, {
      ...logFields(receiptId, batch.trace),
      attempt: attempts + 1,
      code,
      ...next,
      error: description,
    });
    batch.trace?.recordOutcome(receiptId, state, { 'orders.attempt': attempts + 1, 'orders.error_code': code });
    if (state === 'failed') wakeUpLater(producer, batch, [receiptId], delayMs);
  };
}

function codeOf(error: unknown): AttemptErrorCode {
  // A write that meets damaged data is an infrastructure fault and never comes here, so the damage is in the receipt's body.
  if (isDamage(error)) return 'body_unreadable';
  return sqlstateOf(error) ? 'write_refused' : 'unexpected_error';
}
