import { MAX_BATCH_ERRORS, MAX_BATCH_ORDERS } from '@orders/domain/interface-limits.ts';
import type { ProblemCode } from '@orders/domain/problems.ts';
import { batchArrayExamples, batchLinesExamples, requestOrderSchemas } from './order-schemas.ts';
import { acceptedSchema } from './receipt-schemas.ts';
import { grouped, ref, strictly, text } from './schema.ts';

/** Any other element of a batch: a gateway that rejected the batch for it would lose the orders beside it. */
const otherElementSchema = {
  type: ['object', 'array', 'string', 'number', 'boolean', 'null'],
  description: 'Anything else gets its own error in the reply and does not affect the other orders.',
  items: {},
  additionalProperties: true,
};

/** The content types of a batch. */
export const batchContent = {
  'application/x-ndjson': {
    schema: {
      type: 'string',
      description: `One order per line, at most ${grouped(MAX_BATCH_ORDERS)}; empty lines are skipped.`,
    },
    examples: batchLinesExamples,
  },
  'application/json': {
    schema: {
      type: 'array',
      minItems: 1,
      maxItems: MAX_BATCH_ORDERS,
      items: { anyOf: [...requestOrderSchemas, otherElementSchema] },
    },
    examples: batchArrayExamples,
  },
};

const BATCH_ORDER_PROBLEMS: ProblemCode[] = [
  'malformed_body',
  'payload_too_large',
  'validation_failed',
  'internal_error',
];

const batchOrderProblemSchema = {
  type: 'object',
  required: ['status', 'code', 'detail'],
  additionalProperties: false,
  description: 'The error that the order would get if it were sent alone.',
  properties: {
    status: { type: 'integer' },
    code: { enum: BATCH_ORDER_PROBLEMS },
    detail: text,
    errors: { type: 'array', maxItems: MAX_BATCH_ERRORS, items: ref('FieldError') },
  },
};

const { receipt_id, kept_as } = acceptedSchema.properties;

/** The outcome of one order of a batch. */
export const batchResultSchema = {
  oneOf: [
    strictly(
      {
        receipt_id,
        duplicate: { const: true, description: 'Only in a batch whose Idempotency-Key was used before' },
        payload_mismatch: {
          const: true,
          description:
            'The key was used before with other content at this position of the batch. This content is stored under its own receipt',
        },
        kept_as,
      },
      ['duplicate', 'payload_mismatch', 'kept_as'],
    ),
    strictly({ error: batchOrderProblemSchema }),
  ],
};

const countOf = (description: string) => ({ type: 'integer', minimum: 0, description });

/** The reply to a batch. */
export const batchReplySchema = {
  type: 'object',
  required: ['accepted', 'refused', 'mismatched', 'results'],
  description: '`accepted`, `refused` and `mismatched` add up to the number of orders.',
  additionalProperties: false,
  properties: {
    accepted: countOf(
      'Orders that are stored under the `receipt_id` of their result, by this request or an earlier one',
    ),
    refused: countOf('Orders that are not stored; their results contain `error`'),
    mismatched: countOf(
      'Orders whose key was first used with other content; each is stored under `kept_as` of its result',
    ),
    results: {
      type: 'array',
      minItems: 1,
      maxItems: MAX_BATCH_ORDERS,
      items: ref('BatchResult'),
      description: 'One per order, in the order in which they were sent',
    },
  },
};
