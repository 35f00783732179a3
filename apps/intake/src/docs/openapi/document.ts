import { VERSION } from '@orders/runtime/version.ts';
import { batchReplySchema, batchResultSchema } from './batch-schemas.ts';
import {
  cancellationListSchema,
  cancellationSchema,
  cancelReplySchema,
  cancelResultSchema,
} from './cancellation-schemas.ts';
import { eventPageSchema, eventSchema, eventsOperation } from './event-schemas.ts';
import { eventWebhooks } from './event-webhooks.ts';
import {
  batchOperation,
  cancelOperation,
  orderOperation,
  previewOperation,
  reconcileOperation,
  statusOperation,
  webhookCancelOperation,
  webhookOperation,
} from './operations.ts';
import { orderSchema } from './order-schemas.ts';
import { fieldErrorSchema, problemSchema, warningSchema } from './problem-schemas.ts';
import { acceptedSchema, previewSchema, receiptSchema, reconcileSchema } from './receipt-schemas.ts';
import { deliveryReplySchema, sourceOperation } from './source-operation.ts';

/** The OpenAPI 3.1 document of the public routes, served at `/openapi.json`; `basePath` is their prefix. */
export function openApiDocument(basePath: string): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Order ingestion',
      version: VERSION,
      description:
        'Accepts delivery orders as JSON. A 202 means that the order can no longer be lost; a background worker turns it into exactly one order in the list that needs review.' +
        `\n\n[Guides for senders](${basePath}/docs/senders)`,
      contact: { name: 'The operator of this service' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: basePath || '/' }],
    security: [{ apiKey: [] }],
    tags: [
      { name: 'Orders', description: 'Send, preview, cancel and look up orders' },
      { name: 'Events', description: 'What happened to orders' },
      { name: 'Service', description: 'The service itself; needs no API key' },
    ],
    paths: {
      '/ingest/orders': { post: orderOperation },
      '/ingest/orders/batch': { post: batchOperation },
      '/ingest/webhook': { post: webhookOperation },
      '/ingest/orders/cancel': { post: cancelOperation },
      '/ingest/webhook/cancel': { post: webhookCancelOperation },
      '/ingest/sources/{source_id}': { post: sourceOperation },
      '/ingest/preview': { post: previewOperation },
      '/ingest/reconcile': { post: reconcileOperation },
      '/ingest/status/{receipt_id}': { get: statusOperation },
      '/ingest/events': { get: eventsOperation },
      '/openapi.json': {
        get: {
          operationId: 'getOpenApi',
          tags: ['Service'],
          summary: 'This document',
          description: 'In OpenAPI 3.1, for generators of clients and collections.',
          security: [],
          responses: {
            200: { description: 'The document', content: { 'application/json': { schema: { type: 'object' } } } },
          },
        },
      },
    },
    webhooks: eventWebhooks,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of your account: `oik_…`' },
      },
      schemas: {
        Order: orderSchema,
        Accepted: acceptedSchema,
        BatchReply: batchReplySchema,
        BatchResult: batchResultSchema,
        Cancellation: cancellationSchema,
        CancellationList: cancellationListSchema,
        CancelResult: cancelResultSchema,
        CancelReply: cancelReplySchema,
        DeliveryReply: deliveryReplySchema,
        Event: eventSchema,
        EventPage: eventPageSchema,
        Receipt: receiptSchema,
        Preview: previewSchema,
        ReconcileReply: reconcileSchema,
        Warning: warningSchema,
        FieldError: fieldErrorSchema,
        Problem: problemSchema,
      },
    },
  };
}
