import type { FastifyInstance } from 'fastify';
import Fastify from 'fastify';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { v4 as uuid } from 'uuid';
import type { AcceptOrder, IncomingOrder } from '../environment.ts';
import { endOnSignal, logError, readSetting } from '../environment.ts';
import { ACCOUNT_ID } from '../plain-orders.ts';
import { type OrderJob, QUEUE_NAME } from './order-queue.ts';

const ORDER = {
  type: 'object',
  required: ['source_order_id'],
  properties: { source_order_id: { type: 'string', minLength: 1, maxLength: 255 } },
};

// With the schema of a reply Fastify compiles its serializer.
const RECEIPT = {
  type: 'object',
  required: ['receipt_id'],
  properties: { receipt_id: { type: 'string' } },
};

/** Serves until SIGTERM. `close` is called after the last reply. */
async function serveFastify(accept: AcceptOrder, close: () => Promise<unknown>): Promise<void> {
  const app = createApp(accept);
  app.addHook('onClose', close);
  await app.listen({ host: '127.0.0.1', port: Number(readSetting('PORT')) });
  endOnSignal(() => app.close());
}

function createApp(accept: AcceptOrder): FastifyInstance {
  // By default Fastify converts a number to a string. Joi rejects it, so this contestant rejects it too.
  const app = Fastify({ ajv: { customOptions: { coerceTypes: false } } });
  app.post<{ Body: IncomingOrder }>(
    '/ingest/orders',
    { schema: { body: ORDER, response: { 202: RECEIPT } } },
    async (request, reply) => {
      const receiptId = uuid();
      await accept(receiptId, request.body);
      reply.code(202);
      return { receipt_id: receiptId };
    },
  );
  app.setErrorHandler((error: { validation?: unknown; statusCode?: number; message: string }, _request, reply) =>
    reply.code(error.validation ? 422 : (error.statusCode ?? 500)).send({ error: error.message }),
  );
  return app;
}

const connectionString = readSetting('DATABASE_URL');
const pool = new pg.Pool({ connectionString, max: 20, pipeline: true });
pool.on('error', logError);
// It only sends, on the connections of this process. The worker does the maintenance.
const boss = new PgBoss({ connectionString, max: 1, migrate: false, supervise: false, schedule: false });
boss.on('error', logError);
await boss.start();

const INSERT_RECEIPT = {
  name: 'insert-receipt',
  text: `insert into receipts (id, account_id, source_order_id, state, payload) values ($1, $2, $3, 'received', $4)`,
};

await serveFastify(storeOrder, async () => {
  await boss.stop();
  await pool.end();
});

/**
 * Stores receipt and job in one transaction by `send` with its `db` option, as in the documentation. Statements that need
 * no earlier result are sent in one round trip.
 */
async function storeOrder(receiptId: string, order: IncomingOrder): Promise<void> {
  const client = await pool.connect();
  let broken = true;
  try {
    const values = [receiptId, ACCOUNT_ID, order.source_order_id, order];
    const job: OrderJob = { receiptId };
    // A named statement, so that Postgres plans it once per connection. For one queue the statement is always the same.
    const executeSql = (text: string, values?: unknown[]) => client.query({ name: 'send', text, values: values ?? [] });
    const results = await Promise.allSettled([
      client.query('begin'),
      client.query({ ...INSERT_RECEIPT, values }),
      boss.send(QUEUE_NAME, job, { db: { executeSql } }),
    ]);
    const failure = results.find((result) => result.status === 'rejected');
    await client.query(failure ? 'rollback' : 'commit');
    broken = false;
    if (failure) throw failure.reason;
  } finally {
    client.release(broken);
  }
}
