import Fastify, { type FastifyInstance } from 'fastify';
import { v4 as uuid } from 'uuid';
import { endOnSignal } from './end-on-signal.ts';
import { readSetting } from './environment.ts';
import type { AcceptOrder, IncomingOrder } from './incoming-order.ts';

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
export async function serveFastify(accept: AcceptOrder, close: () => Promise<unknown>): Promise<void> {
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
