import { type Job, PgBoss } from 'pg-boss';
import type { IncomingOrder } from '../environment.ts';
import { endOnSignal, logError, readSetting } from '../environment.ts';
import { makeOrderRow, type OrderRow } from '../plain-orders.ts';
import { type OrderJob, QUEUE_NAME } from './order-queue.ts';

/** Runs one statement on a connection or in a transaction. The name allows a prepared statement. */
type Query = (statement: { name: string; text: string; values: unknown[] }) => Promise<{ rows: { id: string }[] }>;

// Sorted, so that two workers that write the same orders cannot deadlock.
const WRITE = `
  with incoming as (
    select * from jsonb_to_recordset($1::jsonb) as incoming (
      account_id integer, source_order_id text, receipt_id uuid, order_number text, customer_name text,
      customer_phone text, customer_email text, customer_id text, address text, emirate text, area text,
      items text, total numeric, currency text, delivery_instructions text
    )
  ), written as (
    insert into orders (
      account_id, source_order_id, receipt_id, order_number, customer_name, customer_phone, customer_email,
      customer_id, address, emirate, area, items, total, currency, delivery_instructions
    )
    select
      account_id, source_order_id, receipt_id, order_number, customer_name, customer_phone, customer_email,
      customer_id, address, emirate, area, items::jsonb, total, currency, delivery_instructions
    from incoming order by account_id, source_order_id
    on conflict (account_id, source_order_id) do nothing
    returning id, receipt_id
  )
  update receipts set state = 'written', order_id = written.id, updated_at = now()
  from written where receipts.id = written.receipt_id
  returning receipts.id
`;

// A separate statement, because a statement that waited for another transaction does not see its order.
const MARK_DUPLICATES = `
  update receipts set state = 'duplicate', order_id = orders.id, updated_at = now()
  from orders
  where receipts.id = any($1::uuid[]) and receipts.state = 'received'
    and orders.account_id = receipts.account_id and orders.source_order_id = receipts.source_order_id
`;

/** Writes orders and settles their receipts. It is idempotent: a job that runs again changes nothing. */
async function writeOrders(query: Query, rows: OrderRow[]): Promise<void> {
  const { rows: written } = await query({ name: 'write-orders', text: WRITE, values: [JSON.stringify(rows)] });
  if (written.length === rows.length) return;
  const done = new Set(written.map(({ id }) => id));
  const others = rows.map((row) => row.receipt_id).filter((id) => !done.has(id));
  await query({ name: 'mark-duplicates', text: MARK_DUPLICATES, values: [others] });
}

const boss = new PgBoss({
  connectionString: readSetting('DATABASE_URL'),
  // The handler holds one connection while it runs. The others are for fetches and maintenance.
  max: 4,
  migrate: false,
  schedule: false,
});
boss.on('error', logError);
boss.on('warning', ({ message }) => console.error(message));
await boss.start();

await boss.work(
  QUEUE_NAME,
  {
    // With batches one worker keeps up with intake. 2 and 4 workers, or batches of 50, 250 or 500, are no faster.
    localConcurrency: 1,
    batchSize: 100,
    burstWhenBatchFull: true,
    // The shortest possible interval.
    pollingIntervalSeconds: 0.5,
    // The writes of the handler commit together with the completion of the jobs.
    transactional: true,
  },
  async (jobs: Job<OrderJob>[], transaction) => {
    const ids = jobs.map((job) => job.data.receiptId);
    const { rows } = await transaction.executeSql('select id, payload from receipts where id = any($1::uuid[])', [ids]);
    const receipts: { id: string; payload: IncomingOrder }[] = rows;
    await writeOrders(
      ({ text, values }) => transaction.executeSql(text, values),
      receipts.map(({ id, payload }) => makeOrderRow(id, payload)),
    );
  },
);

endOnSignal(() => boss.stop());
