import { once } from 'node:events';
import express, { type Express } from 'express';
import Joi from 'joi';
import { v4 as uuid } from 'uuid';
import type { AcceptOrder, IncomingOrder } from './environment.ts';
import { endOnSignal, readSetting } from './environment.ts';

export const ORDER = Joi.object<IncomingOrder>({ source_order_id: Joi.string().min(1).max(255).required() }).unknown();

/** Serves until SIGTERM. `close` is called after the last reply. */
export async function serveExpress(accept: AcceptOrder, close: () => Promise<unknown>, schema = ORDER): Promise<void> {
  const server = createApp(accept, schema).listen(Number(readSetting('PORT')), '127.0.0.1');
  await once(server, 'listening');
  endOnSignal(async () => {
    server.close();
    await once(server, 'close');
    await close();
  });
}

function createApp(accept: AcceptOrder, schema: typeof ORDER): Express {
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
