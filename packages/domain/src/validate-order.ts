import Joi from 'joi';
import { MAX_SOURCE_ORDER_ID, MAX_SOURCE_ORDER_IDS } from './interface-limits.ts';
import { toFieldErrors } from './normalize/warnings.ts';
import { normalizeOrder } from './normalize-order.ts';
import { type FieldError, Problem } from './problems.ts';

/** Stable code and detail for each of joi's errors about a `source_order_id`. */
export const SOURCE_ORDER_ID_ERRORS: Readonly<Record<string, { code: string; detail: string }>> = {
  'any.required': {
    code: 'required',
    detail: 'source_order_id is missing or null. Send your own unique id for the order, the same one on every resend.',
  },
  'string.base': {
    code: 'not_a_string',
    detail: 'source_order_id must be a JSON string. Put a numeric id in quotes: large numbers would lose digits.',
  },
  'string.empty': { code: 'blank', detail: 'source_order_id must not be empty.' },
  blank: { code: 'blank', detail: 'source_order_id must not be white space only.' },
  too_long: { code: 'too_long', detail: `source_order_id must be at most ${MAX_SOURCE_ORDER_ID} characters long.` },
  control_character: {
    code: 'control_character',
    detail: 'source_order_id must not contain control characters such as line breaks, tabs or U+0000.',
  },
  lone_surrogate: {
    code: 'lone_surrogate',
    detail:
      'source_order_id contains half of a surrogate pair, which is no character. Check how it was cut or escaped.',
  },
};

export const SOURCE_ORDER_IDS_ERROR = {
  code: 'not_a_list',
  detail: `source_order_ids must be a list of 1 to ${MAX_SOURCE_ORDER_IDS} ids. Ask for more in several requests.`,
};

/** Detail of a problem whose `errors` say more. */
export const SOURCE_ORDER_IDS_INVALID = 'The list of ids breaks the rules listed in "errors".';

/** Never converted or trimmed: the id is compared exactly as sent. */
const sourceOrderId = Joi.string()
  .empty(null)
  .required()
  .custom(rejectIf('blank', (id) => id.trim() === ''))
  .custom(rejectIf('too_long', isTooLong))
  .custom(rejectIf('control_character', (id) => /\p{Cc}/u.test(id)))
  .custom(rejectIf('lone_surrogate', (id) => !id.isWellFormed()))
  .messages(Object.fromEntries(Object.keys(SOURCE_ORDER_ID_ERRORS).map((type) => [type, type])))
  .prefs({ convert: false, abortEarly: false });

/**
 * Validates the only required field: `source_order_id`, a string of 1 to 255 code points, not only white space, without control characters
 * and lone surrogates.
 *
 * @throws {Problem} `validation_failed` with every broken rule in `errors`.
 */
export function validateOrder(payload: Record<string, unknown>): void {
  throwIfAny(sourceOrderIdErrors(payload.source_order_id, '/source_order_id'));
}

/**
 * The same, and rejects whatever `normalizeOrder` would warn of, with the same pointers and codes (`Prefer: handling=strict`; contract,
 * section 4).
 *
 * @throws {Problem} `validation_failed`, without repeating values.
 */
export function validateStrictly(payload: Record<string, unknown>): void {
  throwIfAny([
    ...sourceOrderIdErrors(payload.source_order_id, '/source_order_id'),
    ...toFieldErrors(normalizeOrder(payload).warnings),
  ]);
}

/**
 * Reads the `source_order_ids` of a reconcile request: 1 to 1,000, each valid as `source_order_id`.
 *
 * @throws {Problem} `validation_failed` with every broken rule in `errors`.
 */
export function readSourceOrderIds({ source_order_ids: ids }: Record<string, unknown>): string[] {
  const pointer = '/source_order_ids';
  if (!Array.isArray(ids) || ids.length === 0 || ids.length > MAX_SOURCE_ORDER_IDS)
    throw invalidIds([{ pointer, ...SOURCE_ORDER_IDS_ERROR }]);
  const errors = ids.flatMap((id, index) => sourceOrderIdErrors(id, `${pointer}/${index}`));
  if (errors.length > 0) throw invalidIds(errors);
  return ids;
}

function invalidIds(errors: FieldError[]): Problem {
  return new Problem('validation_failed', { detail: SOURCE_ORDER_IDS_INVALID, errors });
}

function throwIfAny(errors: FieldError[]): void {
  if (errors.length > 0) throw new Problem('validation_failed', { errors });
}

/** The rules that a `source_order_id` breaks; none if it is valid. */
export function sourceOrderIdErrors(id: unknown, pointer: string): FieldError[] {
  // Only the id, not the payload: joi's clone of an object would use a member `__proto__` as its prototype.
  const { error } = sourceOrderId.validate(id);
  return (error?.details ?? []).map(({ type }) => ({
    pointer,
    ...(SOURCE_ORDER_ID_ERRORS[type] ?? { code: 'invalid', detail: 'source_order_id breaks its rule.' }),
  }));
}

function rejectIf(type: string, isBroken: (id: string) => boolean): Joi.CustomValidator<string> {
  return (id, helpers) => (isBroken(id) ? helpers.error(type) : id);
}

function isTooLong(id: string): boolean {
  if (id.length <= MAX_SOURCE_ORDER_ID) return false;
  return id.length > 2 * MAX_SOURCE_ORDER_ID || [...id].length > MAX_SOURCE_ORDER_ID;
}
