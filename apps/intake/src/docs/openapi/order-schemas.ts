import { MAX_ITEMS } from '@orders/domain/interface-limits.ts';
import { ofTextFields, TEXT_FIELDS } from '@orders/domain/text-fields.ts';
import { json, ref, sourceOrderId, strictly, text } from './schema.ts';

/** An order as most shops send it. */
const ORDER_EXAMPLE = {
  source_order_id: 'SHOP-10001',
  order_number: '#10001',
  customer: { name: 'Aisha Khan', phone: '050 123 4567' },
  address: 'Apt 1204, Marina Heights, Dubai Marina',
  emirate: 'Dubai',
  items: [{ name: 'Chicken Shawarma', quantity: 2, sku: 'SH-1' }],
  total: '149.50',
};

const ARABIC_ORDER_EXAMPLE = {
  source_order_id: 'SHOP-10002',
  customer: { name: 'محمد الحمادي', phone: '+971 55 776 4650', email: 'mohammed@example.com', id: 'c-204' },
  address: 'فيلا 17، شارع الخليج العربي',
  emirate: 'أبو ظبي',
  area: 'الخالدية',
  items: [
    { name: 'Date Box 1kg', quantity: 2, sku: 'DT-09' },
    { name: 'Arabic Coffee 500g', quantity: 1, sku: 'AC-500' },
  ],
  total: '215.00',
  currency: 'AED',
  ...ofTextFields((name) => TEXT_FIELDS[name].example),
};

const BATCH_EXAMPLE = [ORDER_EXAMPLE, ARABIC_ORDER_EXAMPLE];

/** Examples of a batch as a JSON array. */
export const batchArrayExamples = { array: { summary: 'Two orders', value: BATCH_EXAMPLE } };

/** Examples of a batch as NDJSON. */
export const batchLinesExamples = {
  lines: { summary: 'Two orders', value: `${BATCH_EXAMPLE.map((order) => JSON.stringify(order)).join('\n')}\n` },
};

const textOf = (description: string) => ({ type: ['string', 'null'], description });

const sourceOrderIdSchema = {
  ...sourceOrderId,
  description: 'Your own unique id of the order, compared exactly; reuse it on every resend.',
};

/** The order payload as senders should send it; deviations are corrected where possible and never rejected. */
export const orderSchema = {
  type: 'object',
  description:
    'Only `source_order_id` is required. No other member can make the order fail: its errors become warnings.',
  required: ['source_order_id'],
  properties: {
    source_order_id: sourceOrderIdSchema,
    order_number: textOf('Shown on the order; the source_order_id if absent.'),
    customer: {
      type: ['object', 'null'],
      properties: {
        name: textOf('Name'),
        phone: textOf('The driver uses it on arrival; any usual spelling'),
        email: textOf('E-mail address'),
        id: textOf('Your own id of the customer'),
      },
    },
    address: textOf('The full delivery address'),
    emirate: textOf('The emirate, used for routing: name, ISO 3166-2 code or usual abbreviation, English or Arabic'),
    area: textOf('Area or district within the emirate'),
    items: {
      type: ['array', 'null'],
      maxItems: MAX_ITEMS,
      description: 'Further items are only stored in the raw payload, with a warning.',
      items: {
        type: 'object',
        properties: {
          name: textOf('Name'),
          quantity: { type: ['integer', 'null'], minimum: 1 },
          sku: textOf('Stock keeping unit'),
        },
      },
    },
    total: { type: ['number', 'string', 'null'], description: 'Order total; exact if sent as a string' },
    currency: textOf('ISO 4217; AED if absent'),
    ...ofTextFields((name) => textOf(TEXT_FIELDS[name].description)),
    details: {
      type: ['array', 'object', 'string', 'null'],
      description: TEXT_FIELDS.details.description,
      items: {
        type: 'object',
        properties: { label: { type: 'string' }, value: { type: ['string', 'number', 'boolean', 'null'] } },
      },
    },
  },
  examples: [ORDER_EXAMPLE],
};

/** Every order that is accepted. Gateways that validate requests must let them pass. */
const acceptedOrderSchema = {
  type: 'object',
  description: 'Every other member may have any value: it is corrected, or left empty, with a warning.',
  required: ['source_order_id'],
  properties: { source_order_id: sourceOrderIdSchema },
  additionalProperties: true,
};

/** Schemas of an order in a request: first the form to send, which generated clients and pages show. */
export const requestOrderSchemas = [ref('Order'), acceptedOrderSchema];

/** The content of a request with one order. */
export const orderContent = json(
  { anyOf: requestOrderSchemas },
  {
    typical: ['An order from Dubai', ORDER_EXAMPLE],
    arabic: ['Every field, partly in Arabic', ARABIC_ORDER_EXAMPLE],
    minimal: ['Only what is required', { source_order_id: 'SHOP-10003' }],
  },
);

const textOrNull = { type: ['string', 'null'] };
/** A stored item. */
export const normalizedItemSchema = strictly({
  name: textOrNull,
  quantity: { type: ['integer', 'null'], minimum: 1 },
  sku: textOrNull,
});

/** A stored order: every member is present, `null` if it was absent or unreadable. */
export const normalizedOrderSchema = strictly({
  source_order_id: text,
  order_number: text,
  customer: strictly({
    name: textOrNull,
    phone: textOf('E.164, followed by ` ext. N` if there is an extension; as sent if it is not a phone number'),
    email: textOrNull,
    id: textOrNull,
  }),
  address: textOrNull,
  emirate: textOf('One of the seven emirates, in English; otherwise as sent, without a code'),
  emirate_code: { ...textOf('ISO 3166-2'), examples: ['AE-DU'] },
  area: textOrNull,
  items: { type: 'array', maxItems: MAX_ITEMS, items: normalizedItemSchema },
  total: { ...textOf('A decimal number'), pattern: '^\\d{1,15}(\\.\\d{1,6})?$' },
  currency: { type: 'string', description: 'ISO 4217; otherwise as sent' },
  ...ofTextFields(() => textOrNull),
});
