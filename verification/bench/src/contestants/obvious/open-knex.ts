import type { JobsOptions } from 'bullmq';
import { Redis } from 'ioredis';
import knex, { type Knex } from 'knex';
import { type IncomingOrder, readSetting } from '../environment.ts';

export const QUEUE_NAME = 'orders';

export interface OrderJob {
  receiptId: string;
  order: IncomingOrder;
}

export const JOB_OPTIONS: JobsOptions = {
  removeOnComplete: true,
  attempts: 5,
  backoff: { type: 'exponential', delay: 1000 },
};

export function openRedis(): Redis {
  // BullMQ's workers require connections that retry commands forever.
  return new Redis(readSetting('QUEUE_URL'), { maxRetriesPerRequest: null });
}

export function openKnex(connections: number): Knex {
  return knex({
    client: 'pg',
    connection: readSetting('DATABASE_URL'),
    pool: { min: connections, max: connections },
  });
}
