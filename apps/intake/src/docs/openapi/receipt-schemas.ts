import { ATTEMPT_ERRORS } from '@orders/domain/receipt-json.ts';
import { RECEIPT_STATES, REVIEW_STATES } from '@orders/domain/receipt-states.ts';
import { normalizedItemSchema, normalizedOrderSchema } from './order-schemas.ts';
import { integerOrNull, orNull, ref, strictly, text, time, uuid } from './schema.ts';

const originalSchema = orNull(strictly({ receipt_id: uuid, order_id: { type: 'integer' } }));

/** The reply to an accepted order. */
export const acceptedSchema = strictly(
  {
    receipt_id: uuid,
    duplicate: { const: true, description: 'Only on a repeated Idempotency-Key' },
    payload_mismatch: {
      const: true,
      description: 'The key was used before with other content. This content is stored under its own receipt',
    },
    kept_as: {
      ...uuid,
      description:
        'With `payload_mismatch`: the receipt of this content. With the same `source_order_id`, it is processed as a changed delivery. Otherwise it is `dead` with the error `idempotency_key_reused`, and can be redriven as a separate order',
    },
    status: { enum: RECEIPT_STATES, description: 'Only with `Prefer: wait`' },
    order_id: integerOrNull,
  },
  ['duplicate', 'payload_mismatch', 'kept_as', 'status', 'order_id'],
);

const valueSchema = {
  anyOf: [{ type: ['string', 'integer', 'boolean', 'null'] }, { type: 'array', items: normalizedItemSchema }],
};
const changeSchema = strictly(
  {
    pointer: {
      type: 'string',
      description:
        'RFC 6901, into the normalized order; `/items` if the number of items differs; `/cancelled`, from true to false, if the platform had cancelled the order and sent it again; `/finished`, from false to true, if it is done with an order that still needs review',
      examples: ['/customer/phone', '/items/0/quantity'],
    },
    from: valueSchema,
    to: valueSchema,
    cut: { const: true, description: 'Both values are null: they are too long to be stored (16 KiB for all changes)' },
  },
  ['cut'],
);

/** The status reply. */
export const receiptSchema = strictly({
  receipt_id: uuid,
  status: { enum: RECEIPT_STATES },
  order_id: { ...integerOrNull, description: 'Set once `written`' },
  channel: { enum: ['rest', 'webhook'] },
  source_order_id: text,
  received_at: time,
  updated_at: time,
  attempts: { type: 'integer', minimum: 0, description: 'Finished attempts, including the successful one' },
  next_attempt_at: orNull(time),
  warnings: { type: 'array', items: ref('Warning') },
  error: orNull(strictly({ code: { type: 'string', examples: Object.keys(ATTEMPT_ERRORS) }, detail: text })),
  duplicate_of: originalSchema,
  changes: {
    type: 'array',
    description:
      'Differences between a `duplicate` and the order as you first sent it, or your last accepted changed delivery',
    items: changeSchema,
  },
  outdated: {
    type: 'boolean',
    description:
      'Of a `duplicate` from a platform: by the clock of the platform there is a newer version, which came before it, or after it and before anybody decided',
  },
  order_state: {
    ...orNull({ enum: REVIEW_STATES }),
    description: 'The present state of its order, of a `duplicate` too; null if there is no order',
  },
  source: {
    ...orNull(strictly({ name: text, platform_id: orNull(text) })),
    description:
      'Of a delivery to a source: its name, and the id of the order on the platform, which `source_order_id` has behind the prefix of the source. `platform_id` is null if the mapping found none',
  },
});

/** The reply to a preview. */
export const previewSchema = strictly({
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
});

/** The reply to a list of ids. */
export const reconcileSchema = strictly({
  results: {
    type: 'array',
    description: 'One per id, in the order of the request',
    items: strictly({
      source_order_id: text,
      status: {
        enum: [...RECEIPT_STATES, 'never_seen'],
        description:
          'The status of the newest receipt with this id; `never_seen` if there is none, so it is safe to send the order',
      },
      receipt_id: { ...orNull(uuid), description: 'Null if it was never seen, or its order was moved to an archive' },
      order_id: {
        ...integerOrNull,
        description: 'The order with this id, even if its newest receipt is a `duplicate`',
      },
      received_at: orNull(time),
    }),
  },
});
