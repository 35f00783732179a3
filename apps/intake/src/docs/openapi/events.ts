import { EVENT_TYPES, TEST_EVENT } from '@orders/domain/events.ts';
import { MAX_EVENTS } from '@orders/domain/interface-limits.ts';
import { header, problems, STATUS_RATE_HEADERS, successWith } from './responses.ts';
import { grouped, integerOrNull, json, prefer, ref, strictly, text, time, uuid } from './schema.ts';

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
    data: strictly(
      {
        sequence: { type: 'integer', description: "Its position in the account's log" },
        receipt_id: { ...uuid, description: 'The receipt; of an order, the one that created it' },
        source_order_id: {
          type: 'string',
          description: 'Your own id of the order; the receipt_id if a delivery had none',
        },
        order_id: { ...integerOrNull, description: 'Null if there is no order' },
        warnings: {
          type: 'array',
          description:
            '`receipt.written`: what was corrected. The pointer of an `unknown_field` is that of its parent. After 100 of them, `more_warnings` follows.',
          items: strictly({ pointer: text, code: text }),
        },
        duplicate_of: { ...uuid, description: '`receipt.duplicate`: the receipt that came first' },
        changed: {
          type: 'array',
          items: text,
          description: '`receipt.duplicate`: pointers of the fields that differ from the order',
        },
        error: { type: 'string', description: '`receipt.dead`: the code of its error' },
        reason: { type: 'string', description: 'Why, where a reason was given; removed when the customer is erased' },
      },
      ['warnings', 'duplicate_of', 'changed', 'error', 'reason'],
    ),
  },
};

/** A page of the feed. */
export const eventPageSchema = strictly({
  events: { type: 'array', maxItems: MAX_EVENTS, items: ref('Event') },
  next: { type: 'string', description: 'The cursor for the next request' },
  more: { type: 'boolean', description: 'Whether there are more events now' },
});

/** An event without optional data. */
const eventExample = {
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
      description:
        'The `next` of the last page, or `newest` to skip all stored events. Without it, the feed starts at the oldest stored event.',
      schema: { type: 'string', pattern: '^([0-9]{1,15}|newest)$' },
      example: '41',
    },
    {
      name: 'limit',
      in: 'query',
      description: `Up to ${grouped(MAX_EVENTS)} events`,
      schema: { type: 'integer', minimum: 1, maximum: MAX_EVENTS, default: 100 },
    },
    prefer('`wait=N`: reply when there is an event, or after N seconds, at most 30.', 'wait=20'),
  ],
  responses: {
    200: successWith(
      'A page of events; it can be empty',
      json(ref('EventPage'), { page: ['One event', { events: [eventExample], next: '42', more: false }] }),
      { ...STATUS_RATE_HEADERS, 'Preference-Applied': header('`wait=N`, if the reply waited') },
    ),
    ...problems(['invalid_query', 'events_disabled', 'cursor_expired', 'overloaded'], {}, STATUS_RATE_HEADERS),
  },
};

const HEADERS = [
  {
    name: 'webhook-id',
    description: 'The `id` of the event, the same in every attempt: recognize an event that comes again by it.',
    schema: { type: 'string' },
    example: eventExample.id,
  },
  {
    name: 'webhook-timestamp',
    description: 'When this attempt was made, in seconds since 1970. Reject one that is over five minutes away.',
    schema: { type: 'string', pattern: '^[0-9]+$' },
    example: '1795509010',
  },
  {
    name: 'webhook-signature',
    description:
      '`v1,` and the base64 of the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>`, keyed with the decoded base64 after `whsec_`. After a rotation there are two, with a space between them.',
    schema: text,
    example: 'v1,6wot8i29vI4KK+mX9Ju7PBS4t76Iw+2J/3+E4Qc8ADQ=',
  },
].map((header) => ({ ...header, in: 'header', required: true }));

const RESPONSES = {
  '2XX': { description: 'You have the event. Reply within 15 seconds, and do the work later.' },
  410: { description: 'You want no more events: the endpoint is disabled.' },
  default: { description: 'The delivery failed, redirects included, and will be tried again.' },
};

const testEvent = { id: eventExample.id, type: TEST_EVENT, timestamp: eventExample.timestamp, data: {} };
const { id, timestamp } = eventSchema.properties;

/** A request that the service sends. */
function delivery(operation: { operationId: string; summary: string; description: string }, content: object) {
  const { operationId, ...texts } = operation;
  return {
    post: {
      operationId,
      tags: ['Events'],
      ...texts,
      security: [],
      parameters: HEADERS,
      requestBody: { required: true, content },
      responses: RESPONSES,
    },
  };
}

/** The requests that the service sends to the endpoints of an account, by Standard Webhooks. */
export const eventWebhooks = {
  event: delivery(
    {
      operationId: 'receiveEvent',
      summary: 'An event, delivered to your endpoint',
      description:
        'The same event as in the feed, at least once; the order of deliveries is best effort. The guide "Receive events" has receivers in Node, Python and PHP.',
    },
    json(ref('Event'), { confirmed: ['A confirmed order', eventExample] }),
  ),
  [TEST_EVENT]: delivery(
    {
      operationId: 'receiveTestEvent',
      summary: 'A test event, delivered to your endpoint',
      description: 'Sent once when a person tests the endpoint. It is in no feed.',
    },
    json(strictly({ id, type: { const: TEST_EVENT }, timestamp, data: { type: 'object', maxProperties: 0 } }), {
      test: ['A test', testEvent],
    }),
  ),
};
