import { ConfigurationError, duration, readEnvironment, wholeNumber } from '@orders/runtime/config/environment.ts';
import {
  type DatabaseEnvironment,
  databaseEnvironment,
  type PartitionWidth,
  type ProcessEnvironment,
  partitionWidth,
  processEnvironment,
  queueUrl,
} from '@orders/runtime/config/settings.ts';
import { type TracingEnvironment, tracingEnvironment } from '@orders/runtime/config/tracing-environment.ts';

/** The worker's settings from the environment; times in milliseconds. */
export interface WorkerConfig extends ProcessEnvironment, DatabaseEnvironment, TracingEnvironment {
  QUEUE_URL: string;
  /** Max concurrent jobs per lane; their wake-ups are processed in batches. */
  WORKER_CONCURRENCY: number;
  /** Duration of a lease. After it expires, another worker may claim the receipts. */
  LEASE: number;
  RETRY_ATTEMPTS: number;
  RETRY_BASE: number;
  RETRY_CAP: number;
  SWEEP_INTERVAL: number;
  /** How long receipts wait before the sweeper takes them. */
  SWEEP_AFTER: number;
  RECEIPT_RETENTION: number;
  PARTITION_WIDTH: PartitionWidth;
  IDEMPOTENCY_TTL: number;
  EVENT_RETENTION: number;
}

/** @throws {ConfigurationError} with one line that says what to set. */
export function readConfig(env: NodeJS.ProcessEnv): WorkerConfig {
  const config = readEnvironment<WorkerConfig>(
    {
      ...processEnvironment,
      ...databaseEnvironment,
      ...tracingEnvironment,
      QUEUE_URL: queueUrl,
      WORKER_CONCURRENCY: wholeNumber(16, 1, 100),
      LEASE: duration('15s'),
      RETRY_ATTEMPTS: wholeNumber(8, 1, 100),
      RETRY_BASE: duration('1s'),
      RETRY_CAP: duration('5m'),
      SWEEP_INTERVAL: duration('2s'),
      SWEEP_AFTER: duration('10s'),
      RECEIPT_RETENTION: duration('90d', '3650d'),
      PARTITION_WIDTH: partitionWidth,
      IDEMPOTENCY_TTL: duration('7d', '3650d'),
      EVENT_RETENTION: duration('30d', '3650d'),
    },
    env,
  );
  if (config.RECEIPT_RETENTION < config.IDEMPOTENCY_TTL) {
    throw new ConfigurationError('Configuration: RECEIPT_RETENTION must not be less than IDEMPOTENCY_TTL.');
  }
  return config;
}
