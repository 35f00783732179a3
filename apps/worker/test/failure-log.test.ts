import { expect, test } from '@jest/globals';
import type { Database } from '@orders/database';
import type { Logger } from '@orders/runtime';
import { createFailureLog } from '../src/failure-log.ts';

test('a bug and an outage of Postgres are each logged once until the work succeeds', async () => {
  const lines: string[] = [];
  const add = (level: string) => (message: string) => lines.push(`${level}: ${message}`);
  const logger = { error: add('error'), warn: add('warn'), info: add('info') } as unknown as Logger;
  const available = async () => ({ rows: [] });
  const unavailable = () => Promise.reject(new Error('connection terminated'));
  const pool = { query: available as () => Promise<unknown> };
  const database = { pool, prepared: false } as unknown as Database;
  const log = createFailureLog(database, logger, 'batch', 'it will be retried');

  await Promise.all([log.failed(new TypeError('a bug')), log.failed(new TypeError('a bug'))]);
  await log.failed(new Error('connection terminated'));
  pool.query = unavailable;
  await log.failed(new TypeError('a consequence of the outage'));
  log.succeeded();
  log.succeeded();
  pool.query = available;
  await log.failed(new TypeError('a bug'));

  expect(lines).toEqual([
    'error: batch failed; it will be retried',
    'warn: Postgres unavailable; it will be retried',
    'info: Postgres available again',
    'error: batch failed; it will be retried',
  ]);
});
