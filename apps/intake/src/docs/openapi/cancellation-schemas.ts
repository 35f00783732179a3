import { MAX_CANCELLATIONS, MAX_REASON } from '@orders/domain/interface-limits.ts';
import { orNull, ref, text } from './schema.ts';

/** One cancellation. */
export const cancellationSchema = {
  type: 'object',
  required: ['source_order_id'],
  properties: {
    source_order_id: { type: 'string', minLength: 1, maxLength: 255, description: 'Your own id of the order' },
    reason: {
      type: ['string', 'null'],
      maxLength: MAX_REASON,
      description: 'Shown to the people who review orders',
    },
  },
};

/** A list of cancellations. */
export const cancellationListSchema = {
  type: 'object',
  required: ['cancellations'],
  properties: {
    cancellations: { type: 'array', minItems: 1, maxItems: MAX_CANCELLATIONS, items: ref('Cancellation') },
  },
};

/** The outcome of one cancellation. */
export const cancelResultSchema = {
  type: 'object',
  required: ['outcome', 'source_order_id', 'order_id'],
  additionalProperties: false,
  properties: {
    outcome: {
      enum: ['cancelled', 'requested', 'held'],
      description:
        '`cancelled`: the order will not be dispatched, unless a reviewer reopens it. `requested`: the dispatching system may have seen the order, so a person decides. `held`: there is no order with this id yet; it is cancelled when it arrives.',
    },
    source_order_id: text,
    order_id: { ...orNull({ type: 'integer' }), description: 'Null if it is `held`' },
  },
};

/** The reply to a list of cancellations. */
export const cancelReplySchema = {
  type: 'object',
  required: ['results'],
  additionalProperties: false,
  properties: {
    results: {
      type: 'array',
      minItems: 1,
      maxItems: MAX_CANCELLATIONS,
      items: ref('CancelResult'),
      description: 'One per cancellation, in the order of the request',
    },
  },
};

/** The content of a request: one cancellation or a list. */
export const cancelContent = {
  'application/json': {
    schema: { oneOf: [ref('Cancellation'), ref('CancellationList')] },
    examples: {
      one: { summary: 'One order', value: { source_order_id: 'SHOP-10001', reason: 'The customer called' } },
      list: {
        summary: 'Several orders',
        value: {
          cancellations: [{ source_order_id: 'SHOP-10001', reason: 'Sold out' }, { source_order_id: 'SHOP-10002' }],
        },
      },
    },
  },
};

/** The content of the reply, in the form of the request. */
export const cancelReplyContent = {
  'application/json': {
    schema: { oneOf: [ref('CancelResult'), ref('CancelReply')] },
    examples: {
      one: {
        summary: 'One order',
        value: { outcome: 'cancelled', source_order_id: 'SHOP-10001', order_id: 17 },
      },
      list: {
        summary: 'Several orders',
        value: {
          results: [
            { outcome: 'requested', source_order_id: 'SHOP-10001', order_id: 17 },
            { outcome: 'held', source_order_id: 'SHOP-10002', order_id: null },
          ],
        },
      },
    },
  },
};
