import { CANCELLATION_ERRORS, REASON_ERRORS } from '@orders/domain/cancellations.ts';
import { WARNINGS } from '@orders/domain/normalize/warnings.ts';
import { PROBLEMS } from '@orders/domain/problems.ts';
import { SOURCE_ORDER_ID_ERRORS, SOURCE_ORDER_IDS_ERROR } from '@orders/domain/validate-order.ts';
import { ref, text } from './schema.ts';

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

const findingSchema = (codes: string) => ({
  type: 'object',
  required: ['pointer', 'code', 'detail'],
  additionalProperties: false,
  properties: {
    pointer: { type: 'string', description: 'RFC 6901, into the payload as sent' },
    code: { type: 'string', description: `Stable. One of\n\n${codes}` },
    detail: text,
  },
});

/** A correction at one position of the payload. */
export const warningSchema = findingSchema(warningList);

/** An error at one position of the payload: a broken rule or, with strict handling, what would have been a warning. */
export const fieldErrorSchema = findingSchema(errorList);

/** An error reply (RFC 9457). */
export const problemSchema = {
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
  },
};
