import { CANCELLATION_ERRORS, REASON_ERRORS } from '@orders/domain/cancellations.ts';
import { WARNINGS } from '@orders/domain/normalize/warnings.ts';
import { PROBLEMS } from '@orders/domain/problems.ts';
import { SOURCE_ORDER_ID_ERRORS, SOURCE_ORDER_IDS_ERROR } from '@orders/domain/validate-order.ts';
import { VERSION } from '@orders/runtime/version.ts';
import { batchReplySchema, batchResultSchema } from './batch-schemas.ts';
import { cancellationSchemas } from './cancellation-schemas.ts';
import { eventPageSchema, eventSchema, eventsOperation, eventWebhooks } from './events.ts';
import { withOpenReplies } from './open-replies.ts';
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
import { acceptedSchema, previewSchema, receiptSchema, reconcileSchema } from './receipt-schemas.ts';
import { json, ref, strictly, text } from './schema.ts';
import { deliveryReplySchema, sourceOperation } from './source-operation.ts';

const listOf = (codes: [code: string, meaning: string][]) =>
  codes.map(([code, meaning]) => `- \`${code}\`: ${meaning}`).join('\n');
const warningList = listOf(
  Object.entries(WARNINGS).map(([code, [problem, remedy]]) => [code, `${problem}; ${remedy}.`]),
);
const errorList = listOf([
  ...[
    ...Object.values(SOURCE_ORDER_ID_ERRORS),
    SOURCE_ORDER_IDS_ERROR,
    ...Object.values(CANCELLATION_ERRORS),
    ...Object.values(REASON_ERRORS),
  ].map(({ code, detail }): [string, string] => [code, detail]),
  ...Object.entries(WARNINGS).map(([code, [problem]]): [string, string] => [code, `${problem}.`]),
]);

const findingSchema = (codes: string) =>
  strictly({
    pointer: { type: 'string', description: 'RFC 6901, into the payload as sent' },
    code: { type: 'string', description: `Stable. One of\n\n${codes}` },
    detail: text,
  });

/** A correction at one position of the payload. */
const warningSchema = findingSchema(warningList);

/** An error at one position of the payload: a broken rule or, with strict handling, what would have been a warning. */
const fieldErrorSchema = findingSchema(errorList);

/** An error reply (RFC 9457). */
const problemSchema = {
  type: 'object',
  description: 'RFC 9457 problem details; `code` is the stable part.',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  additionalProperties: false,
  properties: {
    // Explains the code; relative to the address of the service.
    type: { type: 'string', format: 'uri-reference', pattern: '/docs/senders/errors#[a-z_]+$' },
    title: text,
    status: { type: 'integer' },
    detail: text,
    code: { enum: Object.keys(PROBLEMS) },
    request_id: text,
    errors: { type: 'array', items: ref('FieldError') },
    installation_url: {
      type: 'string',
      format: 'uri',
      description: 'Of `wrong_installation`: the base URL of the installation that has the account.',
    },
  },
};

/** The OpenAPI 3.1 document of the public routes, served at `/openapi.json`; `basePath` is their prefix. */
export function openApiDocument(basePath: string): object {
  return withOpenReplies(exactDocument(basePath));
}

/** The same with replies and events exactly as this version sends them: what tests compare, and the types of `@orders/client`. */
export function exactDocument(basePath: string): object {
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
          responses: { 200: { description: 'The document', content: json({ type: 'object' }) } },
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
        ...cancellationSchemas,
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
