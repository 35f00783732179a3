import { once } from 'node:events';
import express, { type Express } from 'express';
import Joi from 'joi';
import { v4 as uuid } from 'uuid';
import { endOnSignal } from './end-on-signal.ts';
import { checksItems, readSetting } from './environment.ts';
import type { AcceptOrder, IncomingOrder } from './incoming-order.ts';

const ORDER = Joi.object<IncomingOrder>({ source_order_id: Joi.string().min(1).max(255).required() }).unknown();

const text = (maxLength: number) => Joi.string().max(maxLength).allow(null, '');
/** Checks every field as it should be sent, and the items. */
const WITH_ITEMS = ORDER.keys({
  order_number: text(255),
  customer: Joi.object({ name: text(200), phone: text(64), email: text(254), id: text(255) }).unknown(),
  address: text(1000),
  emirate: text(100),
  area: text(200),
  items: Joi.array().items(
    Joi.object({ name: text(500), quantity: Joi.number().integer().positive(), sku: text(255) }).unknown(),
  ),
  total: Joi.alternatives(Joi.string(), Joi.number()),
  currency: text(16),
  delivery_instructions: text(2000),
});

/** Serves until SIGTERM. `close` is called after the last reply. */
export async function serveExpress(accept: AcceptOrder, close: () => Promise<unknown>): Promise<void> {
  const server = createApp(accept, checksItems ? WITH_ITEMS : ORDER).listen(Number(readSetting('PORT')), '127.0.0.1');
  await once(server, 'listening');
  endOnSignal(async () => {
    server.close();
    await once(server, 'close');
    await close();
  });
}

function createApp(accept: AcceptOrder, schema: Joi.ObjectSchema<IncomingOrder>): Express {
  const app = express();
  // Neither matters to a client that posts, and without them Express is a little faster.
  app.disable('x-powered-by').disable('etag');
  app.post('/ingest/orders', express.json({ limit: '256kb' }), async (request, response) => {
    const { value, error } = schema.validate(request.body);
    if (error) {
      response.status(422).json({ error: error.message });
      return;
    }
    const receiptId = uuid();
    await accept(receiptId, value);
    response.status(202).json({ receipt_id: receiptId });
  });
  return app;
}
