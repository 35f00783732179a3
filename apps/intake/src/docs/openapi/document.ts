import { VERSION } from '@orders/runtime';
import { batchReplySchema, batchResultSchema } from './batch-schemas.ts';
import {
  batchOperation,
  orderOperation,
  previewOperation,
  reconcileOperation,
  statusOperation,
  webhookOperation,
} from './operations.ts';
import { orderSchema } from './order-schemas.ts';
import { fieldErrorSchema, problemSchema, warningSchema } from './problem-schemas.ts';
import { acceptedSchema, previewSchema, receiptSchema, reconcileSchema } from './receipt-schemas.ts';

/** The OpenAPI 3.1 document of the public routes, served at `/openapi.json`; `basePath` is their prefix. */
export function openApiDocument(basePath: string): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Order ingestion',
      version: VERSION,
      description:
        'Accepts delivery orders as JSON. A 202 means that the order can no longer be lost; a background worker turns it into exactly one order in the list that needs review.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    externalDocs: { description: 'Guides for senders', url: `${basePath}/docs/senders` },
    servers: [{ url: basePath || '/' }],
    security: [{ apiKey: [] }],
    paths: {
      '/ingest/orders': { post: orderOperation },
      '/ingest/orders/batch': { post: batchOperation },
      '/ingest/webhook': { post: webhookOperation },
      '/ingest/preview': { post: previewOperation },
      '/ingest/reconcile': { post: reconcileOperation },
      '/ingest/status/{receipt_id}': { get: statusOperation },
      '/openapi.json': {
        get: {
          operationId: 'getOpenApi',
          tags: ['Service'],
          summary: 'This document',
          security: [],
          responses: {
            200: { description: 'The document', content: { 'application/json': { schema: { type: 'object' } } } },
          },
        },
      },
    },
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of your account: `oik_…`' },
      },
      schemas: {
        Order: orderSchema,
        Accepted: acceptedSchema,
        BatchReply: batchReplySchema,
        BatchResult: batchResultSchema,
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
