import { TEST_EVENT } from '@orders/domain/events.ts';
import { eventExample, eventSchema } from './event-schemas.ts';
import { ref, text } from './schema.ts';

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

/** The requests that the service sends to the endpoints of an account, by Standard Webhooks. */
export const eventWebhooks = {
  event: {
    post: {
      operationId: 'receiveEvent',
      tags: ['Events'],
      summary: 'An event, delivered to your endpoint',
      description:
        'The same event as in the feed, at least once; the order of deliveries is best effort. The guide "Receive events" has receivers in Node, Python and PHP.',
      security: [],
      parameters: HEADERS,
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: ref('Event'),
            examples: { confirmed: { summary: 'A confirmed order', value: eventExample } },
          },
        },
      },
      responses: RESPONSES,
    },
  },
  [TEST_EVENT]: {
    post: {
      operationId: 'receiveTestEvent',
      tags: ['Events'],
      summary: 'A test event, delivered to your endpoint',
      description: 'Sent once when a person tests the endpoint. It is in no feed.',
      security: [],
      parameters: HEADERS,
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: {
              type: 'object',
              required: ['id', 'type', 'timestamp', 'data'],
              additionalProperties: false,
              properties: {
                id: eventSchema.properties.id,
                type: { const: TEST_EVENT },
                timestamp: eventSchema.properties.timestamp,
                data: { type: 'object', maxProperties: 0 },
              },
            },
            examples: { test: { summary: 'A test', value: testEvent } },
          },
        },
      },
      responses: RESPONSES,
    },
  },
};
