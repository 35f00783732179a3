import {
  DEFAULT_MAX_BATCH_BYTES,
  MAX_BATCH_ERRORS,
  MAX_BATCH_ORDERS,
  MAX_SOURCE_ORDER_IDS,
  PROBLEMS,
  type ProblemCode,
  SOURCE_ORDER_IDS_INVALID,
} from '@orders/domain';
import { BATCH_TYPES, SIGNATURE_HEADER } from '@orders/http';
import { batchContent } from './batch-schemas.ts';
import { grouped, ref, text } from './schema.ts';

const header = (description: string) => ({ description, schema: { type: 'string' } });

const COMMON_HEADERS = {
  'X-Request-Id': header('The one you sent, or a new one; quote it when you report a problem'),
};
const RATE_HEADERS = {
  'RateLimit-Policy': header(
    'Only where the account has a rate limit: `"account";q=…;w=…`, `q` requests in `w` seconds',
  ),
  RateLimit: header('What is left of it: `"account";r=…;t=…`, `r` requests within `t` seconds'),
};
const STATUS_RATE_HEADERS = {
  'RateLimit-Policy': header(
    'Only where the account has a rate limit: `"status";q=…;w=…`, `q` status look-ups in `w` seconds, five for each request',
  ),
  RateLimit: header('What is left of it: `"status";r=…;t=…`, `r` look-ups within `t` seconds'),
};
const RETRY_AFTER = { 'Retry-After': header('Seconds') };
const REFUSAL_HEADERS: Record<number, object> = {
  401: { 'WWW-Authenticate': header('The scheme, when it is the key that is refused') },
  422: { 'Preference-Applied': header('`handling=strict`, if that was asked for') },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

const AUTHENTICATION: ProblemCode[] = ['missing_api_key', 'invalid_api_key', 'account_suspended', 'rate_limited'];
const ALWAYS: ProblemCode[] = ['storage_unavailable', 'internal_error'];
const BODY: ProblemCode[] = [
  'unsupported_media_type',
  'unsupported_content_encoding',
  'payload_too_large',
  'invalid_idempotency_key',
  'malformed_body',
  'validation_failed',
  'overloaded',
];

export const orderOperation = acceptOperation('submitOrder', 'Send an order', [], []);

export const webhookOperation = acceptOperation(
  'deliverWebhook',
  'Deliver an order as a signed webhook',
  [
    {
      name: SIGNATURE_HEADER,
      in: 'header',
      required: true,
      description:
        'HMAC-SHA256 of the exact body bytes, keyed with the signing secret, in hex; the prefix is recommended.',
      schema: { type: 'string', pattern: '^(sha256=)?[0-9a-fA-F]{64}$' },
    },
  ],
  ['signing_unavailable', 'missing_signature', 'invalid_signature'],
);

export const batchOperation = {
  operationId: 'submitBatch',
  tags: ['Orders'],
  summary: `Send up to ${grouped(MAX_BATCH_ORDERS)} orders together`,
  description: `Each order is checked as if it had been sent alone, and an error in one does not affect the others. The whole batch is rejected only for: more than ${grouped(MAX_BATCH_ORDERS)} orders, none at all, more than ${grouped(DEFAULT_MAX_BATCH_BYTES)} bytes unless the operator set another limit, or an array that is not JSON. It counts as one request for each of its orders. An accepted batch is accepted as a whole, even if it exceeds the rate limit; later requests then wait longer. A 503 may come when some of the orders are stored: send the batch again, with the same \`Idempotency-Key\`.`,
  parameters: [
    {
      name: 'Idempotency-Key',
      in: 'header',
      description:
        'One key per batch; each order has the key with its position. When the batch is sent again, stored orders return their receipts and all others are stored, so rejected orders can be corrected at their position.',
      schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
    },
    {
      name: 'Prefer',
      in: 'header',
      description: `\`handling=strict\` refuses each order that would be corrected, with its first ${MAX_BATCH_ERRORS} errors.`,
      schema: text,
    },
  ],
  requestBody: { required: true, content: batchContent },
  responses: {
    202: {
      description: 'Each order with a receipt is stored and will be processed, even where others are refused.',
      headers: {
        ...COMMON_HEADERS,
        ...RATE_HEADERS,
        'Preference-Applied': header('The preferences that were applied'),
      },
      content: { 'application/json': { schema: ref('BatchReply') } },
    },
    ...refusals([...AUTHENTICATION, ...BODY.filter((code) => code !== 'validation_failed'), ...ALWAYS], RATE_HEADERS, {
      unsupported_media_type: BATCH_TYPES,
      payload_too_large: 'The body is larger than this service accepts, or holds too many orders.',
      malformed_body: 'The body holds no order, or is not one JSON array where it is sent as one.',
    }),
  },
};

export const previewOperation = {
  operationId: 'previewOrder',
  tags: ['Orders'],
  summary: 'Preview how an order would be stored',
  description:
    'Nothing is stored, and no receipt is made. `Idempotency-Key` and `Prefer` have no effect: what strict handling would refuse is listed as warnings.',
  requestBody: { required: true, content: { 'application/json': { schema: ref('Order') } } },
  responses: {
    200: {
      description: 'The order as it would be written',
      headers: { ...COMMON_HEADERS, ...RATE_HEADERS },
      content: { 'application/json': { schema: ref('Preview') } },
    },
    ...refusals(
      [...AUTHENTICATION, ...BODY.filter((code) => code !== 'invalid_idempotency_key'), ...ALWAYS],
      RATE_HEADERS,
    ),
  },
};

export const reconcileOperation = {
  operationId: 'reconcileOrders',
  tags: ['Orders'],
  summary: 'Get the outcome of orders by your own ids',
  description:
    'Tells which of your orders arrived and which never did, for as long as receipts are kept. Ids are compared exactly. The body is at most 1 MiB, which holds 1,000 of the longest in UTF-8.',
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: {
          type: 'object',
          required: ['source_order_ids'],
          properties: {
            source_order_ids: {
              type: 'array',
              minItems: 1,
              maxItems: MAX_SOURCE_ORDER_IDS,
              items: { type: 'string', minLength: 1, maxLength: 255 },
            },
          },
          examples: [{ source_order_ids: ['SHOP-10001', 'SHOP-10002'] }],
        },
      },
    },
  },
  responses: {
    200: {
      description: 'What is known of each id',
      headers: { ...COMMON_HEADERS, ...RATE_HEADERS },
      content: { 'application/json': { schema: ref('ReconcileReply') } },
    },
    ...refusals(
      [...AUTHENTICATION, ...BODY.filter((code) => code !== 'invalid_idempotency_key'), ...ALWAYS],
      RATE_HEADERS,
      { validation_failed: SOURCE_ORDER_IDS_INVALID },
    ),
  },
};

export const statusOperation = {
  operationId: 'getReceipt',
  tags: ['Orders'],
  summary: 'Get the outcome of a receipt',
  parameters: [
    { name: 'receipt_id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } },
    {
      name: 'Prefer',
      in: 'header',
      description: '`wait=N`: reply when the state is final, or after N seconds.',
      schema: text,
    },
  ],
  responses: {
    200: {
      description: 'The receipt',
      headers: {
        ...COMMON_HEADERS,
        ...STATUS_RATE_HEADERS,
        'Preference-Applied': header('The preferences that were applied'),
      },
      content: { 'application/json': { schema: ref('Receipt') } },
    },
    ...refusals([...AUTHENTICATION, 'receipt_not_found', 'overloaded', ...ALWAYS], STATUS_RATE_HEADERS),
  },
};

function acceptOperation(operationId: string, summary: string, parameters: object[], problems: ProblemCode[]) {
  return {
    operationId,
    summary,
    tags: ['Orders'],
    parameters: [
      ...parameters,
      {
        name: 'Idempotency-Key',
        in: 'header',
        description:
          'One key per order. A repeated key returns the original receipt, for at least 7 days unless the operator set another time.',
        schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
      },
      {
        name: 'Prefer',
        in: 'header',
        description:
          '`wait=N` holds the reply up to N seconds (at most 30) for the outcome; `handling=strict` refuses what would be corrected.',
        schema: text,
      },
    ],
    requestBody: { required: true, content: { 'application/json': { schema: ref('Order') } } },
    responses: {
      202: {
        description: 'Accepted: the order is stored and will be processed.',
        headers: {
          ...COMMON_HEADERS,
          ...RATE_HEADERS,
          Location: header('Where to ask for the status'),
          'Idempotent-Replayed': header('`true` when the idempotency key was known'),
          'Preference-Applied': header('The preferences that were applied'),
        },
        content: { 'application/json': { schema: ref('Accepted') } },
      },
      ...refusals([...AUTHENTICATION, ...BODY, ...problems, ...ALWAYS], RATE_HEADERS),
    },
  };
}

/**
 * One response for each status that lists its codes.
 *
 * @param headers may come with any of them.
 * @param details replace the problems' own descriptions.
 */
function refusals(
  codes: ProblemCode[],
  headers = {},
  details: Partial<Record<ProblemCode, string>> = {},
): Record<number, object> {
  const byStatus = Map.groupBy(codes, (code) => PROBLEMS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, those]) => [
      status,
      {
        description: those.map((code) => `\`${code}\`: ${details[code] ?? PROBLEMS[code].detail}`).join('\n\n'),
        headers: { ...COMMON_HEADERS, ...headers, ...REFUSAL_HEADERS[status] },
        content: {
          'application/problem+json': {
            schema: { allOf: [ref('Problem'), { properties: { code: { enum: those }, status: { const: status } } }] },
          },
        },
      },
    ]),
  );
}
