import Joi from 'joi';
import { ORDER, serveExpress } from '../express-intake.ts';

const text = (maxLength: number) => Joi.string().max(maxLength).allow(null, '');

/** Express that also checks every field as it should be sent. */
await serveExpress(
  async () => {},
  async () => {},
  ORDER.keys({
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
  }),
);
