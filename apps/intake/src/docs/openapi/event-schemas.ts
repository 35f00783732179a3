import { EVENT_TYPES } from '@orders/domain/events.ts';
import { MAX_EVENTS } from '@orders/domain/interface-limits.ts';
import { header, refusals, STATUS_RATE_HEADERS, successWith } from './responses.ts';
import { grouped, orNull, ref, text, time } from './schema.ts';

const MEANINGS: Record<(typeof EVENT_TYPES)[number], string> = {
  'receipt.written': 'the order exists',
  'receipt.duplicate': 'the account already had an order with this id',
  'receipt.dead': 'processing has failed and will not be tried again, unless the receipt is redriven',
  'order.confirmed': 'a reviewer confirmed it, the undo time is over, and the dispatching system can see it',
  'order.rejected': 'a reviewer rejected it',
  'order.reopened': 'it needs review again, after it was rejected or cancelled',
  'order.edited': 'a reviewer changed it, or accepted a change that was sent',
  'order.cancelled': 'it was cancelled and will not be dispatched, unless a reviewer reopens it',
  'order.cancel_requested': 'it was cancelled after the dispatching system could see it, so a person decides',
};

/** An event, in the feed and as the body of a delivery. */
export const eventSchema = {
  type: 'object',
  description: 'Something that happened to a receipt or an order. It contains no data of customers.',
  required: ['id', 'type', 'timestamp', 'data'],
  additionalProperties: false,
  properties: {
    id: {
      type: 'string',
      pattern: '^evt_[0-9a-f]{32}$',
      description: 'Unique; the same in the feed and in all deliveries',
    },
    type: {
      enum: EVENT_TYPES,
      description: `More types may be added: ignore unknown ones.\n\n${EVENT_TYPES.map((type) => `- \`${type}\`: ${MEANINGS[type]}`).join('\n')}`,
    },
    timestamp: { ...time, description: 'When it happened; of `order.confirmed`, the end of the undo time' },
    data: {
      type: 'object',
      required: ['sequence', 'receipt_id', 'source_order_id', 'order_id'],
      additionalProperties: false,
      properties: {
        sequence: { type: 'integer', description: "Its position in the account's log" },
        receipt_id: {
          type: 'string',
          format: 'uuid',
          description: 'The receipt; of an order, the one that created it',
        },
        source_order_id: {
          type: 'string',
          description: 'Your own id of the order; the receipt_id if a delivery had none',
        },
        order_id: { ...orNull({ type: 'integer' }), description: 'Null if there is no order' },
        warnings: {
          type: 'array',
          description:
            '`receipt.written`: what was corrected. The pointer of an `unknown_field` is that of its parent. After 100 of them, `more_warnings` follows.',
          items: {
            type: 'object',
            required: ['pointer', 'code'],
            additionalProperties: false,
            properties: { pointer: text, code: text },
          },
        },
        duplicate_of: {
          type: 'string',
          format: 'uuid',
          description: '`receipt.duplicate`: the receipt that came first',
        },
        changed: {
          type: 'array',
          items: text,
          description: '`receipt.duplicate`: pointers of the fields that differ from the order',
        },
        error: { type: 'string', description: '`receipt.dead`: the code of its error' },
        reason: { type: 'string', description: 'Why, where a reason was given; removed when the customer is erased' },
      },
    },
  },
};

/** A page of the feed. */
export const eventPageSchema = {
  type: 'object',
  required: ['events', 'next', 'more'],
  additionalProperties: false,
  properties: {
    events: { type: 'array', maxItems: MAX_EVENTS, items: ref('Event') },
    next: { type: 'string', description: 'The cursor for the next request' },
    more: { type: 'boolean', description: 'Whether there are more events now' },
  },
};

/** An event without optional data. */
export const eventExample = {
  id: 'evt_0e6d3f2b9a4c4b0e8f1d2c3b4a5f6e7d',
  type: 'order.confirmed',
  timestamp: '2026-11-24T08:30:10.000Z',
  data: {
    sequence: 42,
    receipt_id: '019aa3c5-5a00-7000-8000-000000000001',
    source_order_id: 'SHOP-10001',
    order_id: 17,
  },
};

export const eventsOperation = {
  operationId: 'listEvents',
  tags: ['Events'],
  summary: 'Read the events of your account',
  description:
    'What happened to your orders, oldest first, as long as events are stored (30 days by default). Each page names the cursor of the next one. No event appears later before a cursor that was returned. A page has at most `limit` events and about 1 MiB.',
  parameters: [
    {
      name: 'after',
      in: 'query',
      description: 'The `next` of the last page. Without it, the feed starts at the oldest stored event.',
      schema: { type: 'string', pattern: '^[0-9]{1,15}$' },
      example: '41',
    },
    {
      name: 'limit',
      in: 'query',
      description: `Up to ${grouped(MAX_EVENTS)} events`,
      schema: { type: 'integer', minimum: 1, maximum: MAX_EVENTS, default: 100 },
    },
    {
      name: 'Prefer',
      in: 'header',
      description: '`wait=N`: reply when there is an event, or after N seconds, at most 30.',
      schema: text,
      example: 'wait=20',
    },
  ],
  responses: {
    200: successWith(
      'A page of events; it can be empty',
      {
        'application/json': {
          schema: ref('EventPage'),
          examples: { page: { summary: 'One event', value: { events: [eventExample], next: '42', more: false } } },
        },
      },
      { ...STATUS_RATE_HEADERS, 'Preference-Applied': header('`wait=N`, if the reply waited') },
    ),
    ...refusals(['invalid_query', 'events_disabled', 'cursor_expired', 'overloaded'], {}, STATUS_RATE_HEADERS),
  },
};
