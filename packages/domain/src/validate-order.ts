import Joi from 'joi';
import { MAX_SOURCE_ORDER_IDS } from './interface-limits.ts';
import { asProblems } from './normalize/warnings.ts';
import { normalizeOrder } from './normalize-order.ts';
import { type FieldError, Problem } from './problems.ts';

const MAX_CODE_POINTS = 255;

/** Our stable code and its explanation for each way joi can refuse a `source_order_id`. */
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
  too_long: { code: 'too_long', detail: `source_order_id must be at most ${MAX_CODE_POINTS} characters long.` },
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

const LIST_REFUSED = 'The list of ids breaks the rules listed in "errors".';

/** Never converted, trimmed or folded: the id is compared exactly as sent. */
const sourceOrderId = Joi.string()
  .empty(null)
  .required()
  .custom(refuse('blank', (id) => id.trim() === ''))
  .custom(refuse('too_long', isTooLong))
  .custom(refuse('control_character', (id) => /\p{Cc}/u.test(id)))
  .custom(refuse('lone_surrogate', (id) => !id.isWellFormed()))
  .messages(Object.fromEntries(Object.keys(SOURCE_ORDER_ID_ERRORS).map((type) => [type, type])))
  .prefs({ convert: false, abortEarly: false });

/**
 * Checks the one field that can cost an order: `source_order_id`, a string of 1 to 255 code points, not only white
 * space, without control characters and lone surrogates. Throws `validation_failed` with every broken rule in `errors`.
 */
export function validateOrder(payload: Record<string, unknown>): void {
  refuseIfAny(findBreaches(payload.source_order_id, '/source_order_id'));
}

/**
 * The same, and throws `validation_failed` for whatever `normalizeOrder` would warn of (`Prefer: handling=strict`,
 * contract, section 4), at the same place with the same code. No value is repeated.
 */
export function validateStrictly(payload: Record<string, unknown>): void {
  refuseIfAny([
    ...findBreaches(payload.source_order_id, '/source_order_id'),
    ...asProblems(normalizeOrder(payload).warnings),
  ]);
}

/**
 * Reads the `source_order_ids` that a sender asks about: 1 to 1,000, each by the rule of `source_order_id`. Throws
 * `validation_failed` with every broken rule in `errors`.
 */
export function readSourceOrderIds({ source_order_ids: ids }: Record<string, unknown>): string[] {
  const pointer = '/source_order_ids';
  const list = Array.isArray(ids) && ids.length > 0 && ids.length <= MAX_SOURCE_ORDER_IDS ? ids : null;
  const errors = list?.flatMap((id, index) => findBreaches(id, `${pointer}/${index}`)) ?? [
    { pointer, ...SOURCE_ORDER_IDS_ERROR },
  ];
  if (!list || errors.length > 0) throw new Problem('validation_failed', { detail: LIST_REFUSED, errors });
  return list;
}

function refuseIfAny(errors: FieldError[]): void {
  if (errors.length > 0) throw new Problem('validation_failed', { errors });
}

function findBreaches(id: unknown, pointer: string): FieldError[] {
  // The id alone, not the payload: joi's clone of an object would take over a member `__proto__` as its prototype.
  const { error } = sourceOrderId.validate(id);
  return (error?.details ?? []).map(({ type }) => ({
    pointer,
    ...(SOURCE_ORDER_ID_ERRORS[type] ?? { code: 'invalid', detail: 'source_order_id breaks its rule.' }),
  }));
}

function refuse(type: string, isBroken: (id: string) => boolean): Joi.CustomValidator<string> {
  return (id, helpers) => (isBroken(id) ? helpers.error(type) : id);
}

function isTooLong(id: string): boolean {
  if (id.length <= MAX_CODE_POINTS) return false;
  return id.length > 2 * MAX_CODE_POINTS || [...id].length > MAX_CODE_POINTS;
}
