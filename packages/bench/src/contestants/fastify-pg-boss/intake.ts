import pg from 'pg';
import { readSetting } from '../environment.ts';
import { serveFastify } from '../fastify-intake.ts';
import { logError } from '../log-error.ts';
import { ACCOUNT_ID } from '../plain-tables.ts';
import { type OrderJob, QUEUE_NAME } from './order-queue.ts';

const pool = new pg.Pool({ connectionString: readSetting('DATABASE_URL'), max: 10 });
pool.on('error', logError);
await pool.query('select 1');

/**
 * Receipt and job in one transaction. The documentation allows to insert jobs by SQL ("within Node.js" too), and this is faster by a half
 * than `send` with its `db` option in a transaction of four statements. Like `send` it takes what the queue says of its jobs.
 */
const STORE_ORDER = {
  name: 'store-order',
  text: `
    with receipt as (
      insert into receipts (id, account_id, source_order_id, state, payload) values ($1, $2, $3, 'received', $4)
    )
    insert into pgboss.job (
      name, data, policy, retry_limit, retry_delay, retry_backoff, retry_delay_max, expire_seconds, deletion_seconds,
      keep_until, dead_letter, heartbeat_seconds
    )
    select
      name, $5, policy, retry_limit, retry_delay, coalesce(retry_backoff, false), retry_delay_max, expire_seconds,
      deletion_seconds, now() + retention_seconds * interval '1s', dead_letter, heartbeat_seconds
    from pgboss.queue where name = '${QUEUE_NAME}'
  `,
};

await serveFastify(
  async (receiptId, order) => {
    const job: OrderJob = { receiptId };
    const values = [receiptId, ACCOUNT_ID, order.source_order_id, order, job];
    const { rowCount } = await pool.query({ ...STORE_ORDER, values });
    if (rowCount !== 1) throw new Error(`There is no queue ${QUEUE_NAME}.`);
  },
  () => pool.end(),
);
