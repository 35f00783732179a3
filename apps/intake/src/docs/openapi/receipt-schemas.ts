import { ATTEMPT_ERRORS } from '@orders/domain/attempt-errors.ts';
import { RECEIPT_STATES, REVIEW_STATES } from '@orders/domain/receipt-states.ts';
import { normalizedItemSchema, normalizedOrderSchema } from './order-schemas.ts';
import { orNull, ref, text, time } from './schema.ts';

const originalSchema = orNull({
  type: 'object',
  required: ['receipt_id', 'order_id'],
  additionalProperties: false,
  properties: { receipt_id: { type: 'string', format: 'uuid' }, order_id: { type: 'integer' } },
});

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
      description: 'The key was used before with other content. This content is stored under its own receipt',
    },
    kept_as: {
      type: 'string',
      format: 'uuid',
      description:
        'With `payload_mismatch`: the receipt of this content. With the same `source_order_id`, it is processed as a resend. Otherwise it is `dead` with the error `idempotency_key_reused`, and can be redriven as a separate order',
    },
    status: { enum: RECEIPT_STATES, description: 'Only with `Prefer: wait`' },
    order_id: orNull({ type: 'integer' }),
  },
};

const valueSchema = {
  anyOf: [{ type: ['string', 'integer', 'boolean', 'null'] }, { type: 'array', items: normalizedItemSchema }],
};
const changeSchema = {
  type: 'object',
  required: ['pointer', 'from', 'to'],
  additionalProperties: false,
  properties: {
    pointer: {
      type: 'string',
      description:
        'RFC 6901, into the normalized order; `/items` if the number of items differs; `/cancelled`, from true to false, if the platform had cancelled the order and sent it again',
      examples: ['/customer/phone', '/items/0/quantity'],
    },
    from: valueSchema,
    to: valueSchema,
    cut: { const: true, description: 'Both values are null: they are too long to be stored (16 KiB for all changes)' },
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
    'order_state',
    'source',
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
    attempts: { type: 'integer', minimum: 0, description: 'Finished attempts, including the successful one' },
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
      description: 'Differences between a `duplicate` and the order as you first sent it, or your last accepted resend',
      items: changeSchema,
    },
    order_state: {
      ...orNull({ enum: REVIEW_STATES }),
      description: 'The present state of its order, of a `duplicate` too; null if there is no order',
    },
    source: {
      ...orNull({
        type: 'object',
        required: ['name', 'platform_id'],
        additionalProperties: false,
        properties: { name: text, platform_id: orNull(text) },
      }),
      description:
        'Of a delivery to a source: its name, and the id of the order on the platform, which `source_order_id` has behind the prefix of the source. `platform_id` is null if the mapping found none',
    },
  },
};

/** The reply to a preview. */
export const previewSchema = {
  type: 'object',
  required: ['normalized', 'warnings', 'duplicate_of', 'cancellation_held'],
  additionalProperties: false,
  properties: {
    normalized: normalizedOrderSchema,
    warnings: { type: 'array', items: ref('Warning') },
    duplicate_of: {
      ...originalSchema,
      description:
        'The order that was written with this `source_order_id`: if sent now, this order would become a `duplicate`. Also null while the first order is not written yet.',
    },
    cancellation_held: {
      type: 'boolean',
      description:
        'Whether a cancellation is held for this `source_order_id`: if sent now, the order would be cancelled.',
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
      description: 'One per id, in the order of the request',
      items: {
        type: 'object',
        required: ['source_order_id', 'status', 'receipt_id', 'order_id', 'received_at'],
        additionalProperties: false,
        properties: {
          source_order_id: text,
          status: {
            enum: [...RECEIPT_STATES, 'never_seen'],
            description:
              'The status of the newest receipt with this id; `never_seen` if there is none, so it is safe to send the order',
          },
          receipt_id: orNull({ type: 'string', format: 'uuid' }),
          order_id: {
            ...orNull({ type: 'integer' }),
            description: 'The order with this id, even if its newest receipt is a `duplicate`',
          },
          received_at: orNull(time),
        },
      },
    },
  },
};
