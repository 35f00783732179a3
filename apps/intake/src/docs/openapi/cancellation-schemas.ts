import { CANCELLATION_OUTCOMES } from '@orders/domain/cancellations.ts';
import { MAX_CANCELLATIONS, MAX_REASON } from '@orders/domain/interface-limits.ts';
import { integerOrNull, json, ref, sourceOrderId, strictly, text } from './schema.ts';

const listOf = (name: string) => ({ type: 'array', minItems: 1, maxItems: MAX_CANCELLATIONS, items: ref(name) });

/** The schemas of the document that are about cancellations, by their names. */
export const cancellationSchemas = {
  Cancellation: {
    type: 'object',
    required: ['source_order_id'],
    properties: {
      source_order_id: { ...sourceOrderId, description: 'Your own id of the order' },
      reason: {
        type: ['string', 'null'],
        maxLength: MAX_REASON,
        description: 'Shown to the people who review orders',
      },
    },
  },
  CancellationList: {
    type: 'object',
    required: ['cancellations'],
    properties: { cancellations: listOf('Cancellation') },
  },
  CancelResult: strictly({
    outcome: {
      enum: CANCELLATION_OUTCOMES,
      description:
        '`cancelled`: the order will not be dispatched, unless a reviewer reopens it. `requested`: the dispatching system may have seen the order, so a person decides. `held`: there is no order with this id yet; it is cancelled when it arrives. `archived`: the order is so old that it was moved to an archive, and nothing happened.',
    },
    source_order_id: text,
    order_id: { ...integerOrNull, description: 'Null if it is `held`' },
  }),
  CancelReply: strictly({
    results: { ...listOf('CancelResult'), description: 'One per cancellation, in the order of the request' },
  }),
};

/** The content of a request: one cancellation or a list. */
export const cancelContent = json(
  { oneOf: [ref('Cancellation'), ref('CancellationList')] },
  {
    one: ['One order', { source_order_id: 'SHOP-10001', reason: 'The customer called' }],
    list: [
      'Several orders',
      { cancellations: [{ source_order_id: 'SHOP-10001', reason: 'Sold out' }, { source_order_id: 'SHOP-10002' }] },
    ],
  },
);

/** The content of the reply, in the form of the request. */
export const cancelReplyContent = json(
  { oneOf: [ref('CancelResult'), ref('CancelReply')] },
  {
    one: ['One order', { outcome: 'cancelled', source_order_id: 'SHOP-10001', order_id: 17 }],
    list: [
      'Several orders',
      {
        results: [
          { outcome: 'requested', source_order_id: 'SHOP-10001', order_id: 17 },
          { outcome: 'held', source_order_id: 'SHOP-10002', order_id: null },
        ],
      },
    ],
  },
);
