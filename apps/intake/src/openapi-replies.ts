import {
  ATTEMPT_ERRORS,
  PROBLEMS,
  type ProblemCode,
  RECEIPT_STATES,
  SOURCE_ORDER_ID_ERRORS,
  SOURCE_ORDER_IDS_ERROR,
  WARNINGS,
} from '@orders/domain';
import { normalizedItemSchema, normalizedOrderSchema } from './openapi-order.ts';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const text = { type: 'string' };
const time = { type: 'string', format: 'date-time' };
const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });

const originalSchema = orNull({
  type: 'object',
  required: ['receipt_id', 'order_id'],
  additionalProperties: false,
  properties: { receipt_id: { type: 'string', format: 'uuid' }, order_id: { type: 'integer' } },
});

const REFUSED_OF_BATCH: ProblemCode[] = ['malformed_body', 'payload_too_large', 'validation_failed', 'internal_error'];

/** The reply to an accepted order. */
export const acceptedSchema = {
  type: 'object',
  required: ['receipt_id'],
  additionalProperties: false,
  properties: {
    receipt_id: { type: 'string', format: 'uuid' },
    duplicate: { const: true, description: 'Only on a repeated Idempotency-Key' },
    payload_mismatch: {
      const: true,
      description: 'The repeated key came with another payload; the original receipt stands',
    },
    status: { enum: RECEIPT_STATES, description: 'Only with `Prefer: wait`' },
    order_id: orNull({ type: 'integer' }),
  },
};

const refusedOfBatchSchema = {
  type: 'object',
  required: ['status', 'code', 'detail'],
  additionalProperties: false,
  description: 'What the order would have been refused with, had it been sent alone.',
  properties: {
    status: { type: 'integer' },
    code: { enum: REFUSED_OF_BATCH },
    detail: text,
    errors: { type: 'array', maxItems: 20, items: ref('FieldError') },
  },
};

/** What became of one order of a batch. */
export const batchResultSchema = {
  oneOf: [
    {
      type: 'object',
      required: ['receipt_id'],
      additionalProperties: false,
      properties: {
        receipt_id: acceptedSchema.properties.receipt_id,
        duplicate: { const: true, description: 'Only in a batch whose Idempotency-Key came before' },
        payload_mismatch: {
          const: true,
          description: 'At this place of the batch another order came before under this key; its receipt stands',
        },
      },
    },
    {
      type: 'object',
      required: ['error'],
      additionalProperties: false,
      properties: { error: refusedOfBatchSchema },
    },
  ],
};

/** The reply to a batch. */
export const batchReplySchema = {
  type: 'object',
  required: ['accepted', 'refused', 'results'],
  additionalProperties: false,
  properties: {
    accepted: { type: 'integer', minimum: 0, description: 'Orders that have a receipt' },
    refused: { type: 'integer', minimum: 0, description: 'Orders that are not stored' },
    results: {
      type: 'array',
      minItems: 1,
      maxItems: 1000,
      items: ref('BatchResult'),
      description: 'One for each order, in their order',
    },
  },
};

const listOf = (codes: [code: string, meaning: string][]) =>
  codes.map(([code, meaning]) => `- \`${code}\`: ${meaning}`).join('\n');
const warningList = listOf(
  Object.entries(WARNINGS).map(([code, [problem, remedy]]) => [code, `${problem}; ${remedy}.`]),
);
const errorList = listOf([
  ...[...Object.values(SOURCE_ORDER_ID_ERRORS), SOURCE_ORDER_IDS_ERROR].map(({ code, detail }): [string, string] => [
    code,
    detail,
  ]),
  ...Object.entries(WARNINGS).map(([code, [problem]]): [string, string] => [code, `${problem}.`]),
]);

const noteSchema = (codes: string) => ({
  type: 'object',
  required: ['pointer', 'code', 'detail'],
  additionalProperties: false,
  properties: {
    pointer: { type: 'string', description: 'RFC 6901, into the payload as sent' },
    code: { type: 'string', description: `Stable. One of\n\n${codes}` },
    detail: text,
  },
});

/** What had to be mended at one place of the payload. */
export const warningSchema = noteSchema(warningList);

/** What was refused at one place of the payload: a broken rule or, by strict handling, what would have been a warning. */
export const fieldErrorSchema = noteSchema(errorList);

const valueSchema = {
  anyOf: [{ type: ['string', 'integer', 'null'] }, { type: 'array', items: normalizedItemSchema }],
};
const changeSchema = {
  type: 'object',
  required: ['pointer', 'from', 'to'],
  additionalProperties: false,
  properties: {
    pointer: {
      type: 'string',
      description: 'RFC 6901, into the normalized order; `/items` where their number differs',
      examples: ['/customer/phone', '/items/0/quantity'],
    },
    from: valueSchema,
    to: valueSchema,
    cut: { const: true, description: 'Both values are null: they are too long to be kept (16 KiB for all changes)' },
  },
};

/** The status reply. */
export const receiptSchema = {
  type: 'object',
  required: [
    'receipt_id',
    'status',
    'order_id',
    'channel',
    'source_order_id',
    'received_at',
    'updated_at',
    'attempts',
    'next_attempt_at',
    'warnings',
    'error',
    'duplicate_of',
    'changes',
  ],
  additionalProperties: false,
  properties: {
    receipt_id: { type: 'string', format: 'uuid' },
    status: { enum: RECEIPT_STATES },
    order_id: { ...orNull({ type: 'integer' }), description: 'Set once `written`' },
    channel: { enum: ['rest', 'webhook'] },
    source_order_id: text,
    received_at: time,
    updated_at: time,
    attempts: { type: 'integer', minimum: 0, description: 'Attempts that came to an end, the successful one included' },
    next_attempt_at: orNull(time),
    warnings: { type: 'array', items: ref('Warning') },
    error: orNull({
      type: 'object',
      required: ['code', 'detail'],
      additionalProperties: false,
      properties: { code: { type: 'string', examples: Object.keys(ATTEMPT_ERRORS) }, detail: text },
    }),
    duplicate_of: originalSchema,
    changes: {
      type: 'array',
      description:
        'What a `duplicate` says otherwise than its order as you first sent it, or as your last resend that was accepted has it',
      items: changeSchema,
    },
  },
};

/** The reply to a preview. */
export const previewSchema = {
  type: 'object',
  required: ['normalized', 'warnings', 'duplicate_of'],
  additionalProperties: false,
  properties: {
    normalized: normalizedOrderSchema,
    warnings: { type: 'array', items: ref('Warning') },
    duplicate_of: {
      ...originalSchema,
      description:
        'The order that is written with this `source_order_id`; sent now, this one would end as `duplicate`. Null also while the first is still on its way.',
    },
  },
};

/** The reply to a list of ids. */
export const reconcileSchema = {
  type: 'object',
  required: ['results'],
  additionalProperties: false,
  properties: {
    results: {
      type: 'array',
      description: 'One for each id, in the order asked',
      items: {
        type: 'object',
        required: ['source_order_id', 'status', 'receipt_id', 'order_id', 'received_at'],
        additionalProperties: false,
        properties: {
          source_order_id: text,
          status: {
            enum: [...RECEIPT_STATES, 'never_seen'],
            description:
              'Of the newest receipt with this id; `never_seen` where there is none, so that the order is safe to send',
          },
          receipt_id: orNull({ type: 'string', format: 'uuid' }),
          order_id: {
            ...orNull({ type: 'integer' }),
            description: 'The order that exists for this id, also where its newest receipt is a repeat of it',
          },
          received_at: orNull(time),
        },
      },
    },
  },
};

/** A refusal. */
export const problemSchema = {
  type: 'object',
  description: 'RFC 9457 problem details; `code` is the stable part.',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  additionalProperties: false,
  properties: {
    // Where the code is explained, relative to the address of the service.
    type: { type: 'string', format: 'uri-reference', pattern: '/docs/senders/errors#[a-z_]+$' },
    title: text,
    status: { type: 'integer' },
    detail: text,
    code: { enum: Object.keys(PROBLEMS) },
    request_id: text,
    errors: { type: 'array', items: ref('FieldError') },
  },
};
