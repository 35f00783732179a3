import pg from 'pg';
import { readSetting } from '../environment.ts';
import { serveFastify } from '../fastify-intake.ts';
import { logError } from '../log-error.ts';
import { ACCOUNT_ID } from '../plain-tables.ts';
import { TASK_NAME } from './order-task.ts';

// Each add_job notifies, and Postgres serializes commits that notify: 3, 5 and 20 connections are no faster.
const pool = new pg.Pool({ connectionString: readSetting('DATABASE_URL'), max: 10 });
pool.on('error', logError);
await pool.query('select 1');

const STORE_ORDER = {
  name: 'store-order',
  text: `
    with receipt as (
      insert into receipts (id, account_id, source_order_id, state, payload) values ($1, $2, $3, 'received', $4::jsonb)
    )
    select graphile_worker.add_job('${TASK_NAME}', json_build_object('receipt_id', $1::uuid, 'order', $4::json))
  `,
};

await serveFastify(
  (receiptId, order) =>
    pool.query({ ...STORE_ORDER, values: [receiptId, ACCOUNT_ID, order.source_order_id, JSON.stringify(order)] }),
  () => pool.end(),
);
