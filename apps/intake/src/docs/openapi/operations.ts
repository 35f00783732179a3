import { CANCELLATION_INVALID } from '@orders/domain/cancellations.ts';
import {
  DEFAULT_MAX_BATCH_BYTES,
  MAX_BATCH_ERRORS,
  MAX_BATCH_ORDERS,
  MAX_CANCEL_BYTES,
  MAX_CANCELLATIONS,
  MAX_SOURCE_ORDER_IDS,
} from '@orders/domain/interface-limits.ts';
import type { ProblemCode } from '@orders/domain/problems.ts';
import { SOURCE_ORDER_IDS_INVALID } from '@orders/domain/validate-order.ts';
import { BATCH_TYPES } from '@orders/http/check-media-type.ts';
import { SIGNATURE_HEADER } from '@orders/http/read-headers.ts';
import { batchContent } from './batch-schemas.ts';
import { cancelContent, cancelReplyContent } from './cancellation-schemas.ts';
import { orderContent } from './order-schemas.ts';
import { BODY, header, problems, RATE_HEADERS, STATUS_RATE_HEADERS, success, successWith } from './responses.ts';
import { grouped, json, prefer, sourceOrderId, uuid } from './schema.ts';

const PREFERENCE_APPLIED = { 'Preference-Applied': header('The preferences that were applied') };

const without = (left: ProblemCode, codes: ProblemCode[]) => codes.filter((code) => code !== left);

/** Not a parameter: Postman sends every parameter, with one value that it invents, and another order under a used key ends `dead`. */
const keyDescription = (use: string) =>
  `You can send the header \`Idempotency-Key\`, 1 to 255 visible ASCII characters: ${use}`;

export const orderOperation = acceptOperation('submitOrder', 'Send an order', [], ['signature_required']);

const SIGNATURE_PARAMETER = {
  name: SIGNATURE_HEADER,
  in: 'header',
  required: true,
  description: 'HMAC-SHA256 of the exact body bytes, keyed with the signing secret, in hex; the prefix is recommended.',
  schema: { type: 'string', pattern: '^([sS][hH][aA]256=)?[0-9a-fA-F]{64}$' },
};
const SIGNATURE_CODES: ProblemCode[] = ['signing_unavailable', 'missing_signature', 'invalid_signature'];

export const webhookOperation = acceptOperation(
  'deliverWebhook',
  'Deliver an order as a signed webhook',
  [SIGNATURE_PARAMETER],
  SIGNATURE_CODES,
);

export const cancelOperation = cancelOperationOf(
  'cancelOrders',
  'Cancel one order or several',
  [],
  ['signature_required'],
);

export const webhookCancelOperation = cancelOperationOf(
  'deliverCancellation',
  'Cancel one order or several by a signed webhook',
  [SIGNATURE_PARAMETER],
  SIGNATURE_CODES,
);

export const batchOperation = {
  operationId: 'submitBatch',
  tags: ['Orders'],
  summary: `Send up to ${grouped(MAX_BATCH_ORDERS)} orders together`,
  description: `Each order is checked as if it had been sent alone, and an error in one does not affect the others. The whole batch is rejected only for: more than ${grouped(MAX_BATCH_ORDERS)} orders, none at all, more than ${grouped(DEFAULT_MAX_BATCH_BYTES)} bytes unless the operator set another limit, or an array that is not JSON. It counts as one request for each of its orders. An accepted batch is accepted as a whole, even if it exceeds the rate limit; later requests then wait longer. After a 503, some of the orders may be stored: send the batch again with the same \`Idempotency-Key\`.\n\n${keyDescription('one key per batch; each order has the key with its position. When the batch is sent again, stored orders return their receipts and all others are stored, so rejected orders can be corrected at their position.')}`,
  parameters: [
    prefer(
      `\`handling=strict\` rejects each order that would otherwise be corrected, with its first ${MAX_BATCH_ERRORS} errors.`,
    ),
  ],
  requestBody: { required: true, content: batchContent },
  responses: {
    202: success(
      'Each order with a receipt is stored and will be processed, even if others are rejected.',
      'BatchReply',
      { ...RATE_HEADERS, ...PREFERENCE_APPLIED },
    ),
    ...problems([...without('validation_failed', BODY), 'signature_required'], {
      unsupported_media_type: BATCH_TYPES,
      payload_too_large: 'The body is larger than this service accepts, or contains too many orders.',
      malformed_body: 'The body contains no order, or was sent as a JSON array and is not one.',
    }),
  },
};

export const previewOperation = {
  operationId: 'previewOrder',
  tags: ['Orders'],
  summary: 'Preview how an order would be stored',
  description:
    'Nothing is stored, and no receipt is created. `Idempotency-Key` and `Prefer` have no effect: the errors of strict handling are listed as warnings.',
  requestBody: { required: true, content: orderContent },
  responses: {
    200: success('The order as it would be written', 'Preview'),
    ...problems(without('invalid_idempotency_key', BODY)),
  },
};

export const reconcileOperation = {
  operationId: 'reconcileOrders',
  tags: ['Orders'],
  summary: 'Get the outcome of orders by your own ids',
  description:
    'Shows which of your orders arrived and which never did, as long as their receipts are stored. Ids are compared exactly. The body is at most 1 MiB, which fits 1,000 ids of the maximum length in UTF-8.',
  requestBody: {
    required: true,
    content: json(
      {
        type: 'object',
        required: ['source_order_ids'],
        properties: {
          source_order_ids: { type: 'array', minItems: 1, maxItems: MAX_SOURCE_ORDER_IDS, items: sourceOrderId },
        },
      },
      { ids: ['Two orders', { source_order_ids: ['SHOP-10001', 'SHOP-10002'] }] },
    ),
  },
  responses: {
    200: success('The outcome of each id', 'ReconcileReply'),
    ...problems(without('invalid_idempotency_key', BODY), { validation_failed: SOURCE_ORDER_IDS_INVALID }),
  },
};

export const statusOperation = {
  operationId: 'getReceipt',
  tags: ['Orders'],
  summary: 'Get the outcome of a receipt',
  description:
    'The status is final once it is `written`, `duplicate` or `dead`. Look-ups have a rate limit of their own.',
  parameters: [
    { name: 'receipt_id', in: 'path', required: true, schema: uuid },
    prefer('`wait=N`: reply when the state is final, or after N seconds.', 'wait=10'),
  ],
  responses: {
    200: success('The receipt', 'Receipt', { ...STATUS_RATE_HEADERS, ...PREFERENCE_APPLIED }),
    ...problems(['receipt_not_found', 'overloaded'], {}, STATUS_RATE_HEADERS),
  },
};

function acceptOperation(operationId: string, summary: string, parameters: object[], codes: ProblemCode[]) {
  return {
    operationId,
    summary,
    tags: ['Orders'],
    description: `Only \`source_order_id\` is required. Any other member that is missing or malformed becomes a warning.\n\n${keyDescription('one key per order. A repeated key returns the original receipt, for at least 7 days unless the operator set another time.')}`,
    parameters: [
      ...parameters,
      prefer(
        '`wait=N` delays the reply up to N seconds (at most 30) until the outcome is known; `handling=strict` rejects an order that would otherwise be corrected.',
        'wait=10',
      ),
    ],
    requestBody: { required: true, content: orderContent },
    responses: {
      202: success('Accepted: the order is stored and will be processed.', 'Accepted', {
        ...RATE_HEADERS,
        Location: header('The URL of the status'),
        'Idempotent-Replayed': header('`true` if the idempotency key was used before'),
        ...PREFERENCE_APPLIED,
      }),
      ...problems([...BODY, ...codes]),
    },
  };
}

function cancelOperationOf(operationId: string, summary: string, parameters: object[], codes: ProblemCode[]) {
  return {
    operationId,
    summary,
    tags: ['Orders'],
    description: `Takes one cancellation or a list of up to ${grouped(MAX_CANCELLATIONS)}. Each of them has an outcome: \`cancelled\`, \`requested\` or \`held\`. A list is stored as a whole or not at all. Each cancellation counts as one request. It is safe to repeat. \`Idempotency-Key\` and \`Prefer\` have no effect.`,
    parameters,
    requestBody: { required: true, content: cancelContent },
    responses: {
      200: successWith('The outcomes, which are stored', cancelReplyContent),
      ...problems([...without('invalid_idempotency_key', BODY), ...codes], {
        validation_failed: CANCELLATION_INVALID,
        payload_too_large: `The body is larger than ${grouped(MAX_CANCEL_BYTES)} bytes.`,
        overloaded:
          'The account has too many requests in flight, or an order is locked by another change. Nothing was cancelled.',
      }),
    },
  };
}
