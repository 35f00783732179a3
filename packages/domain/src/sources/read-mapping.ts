import Joi from 'joi';
import { nearestName } from '../nearest-name.ts';
import { MAX_DETAILS } from '../normalize/text-field.ts';
import { type FieldError, Problem } from '../problems.ts';
import { ofTextFields, TEXT_FIELD_NAMES } from '../text-fields.ts';
import { isJsonPointer, MAX_POINTER, protoMembers, toJsonPointer } from './json-pointer.ts';
import { countRead, countSearchedFor, type OrderMapping } from './mapping.ts';
import { suggestField } from './suggest-field.ts';

/** In the sequence of `OrderMapping`; Postgres sorts the members of what it stores. */
const SEQUENCE = [
  ...['source_order_id', 'order_number', 'customer', 'address', 'emirate', 'area', 'items', 'total', 'currency'],
  ...TEXT_FIELD_NAMES,
  ...['each', 'label'],
  ...['list', 'name', 'quantity', 'sku', 'phone', 'email', 'id', 'omit_if_zero', 'only', 'except'],
  ...['join', 'separator', 'find', 'where', 'value', 'divide', 'by_digits', 'constant', 'if'],
];

/** The JSON of a mapping, indented, with its members in the sequence of the documents. `readMapping` accepts it. */
export function printMapping(mapping: OrderMapping): string {
  return JSON.stringify(mapping, inSequence, 2);
}

function inSequence(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => SEQUENCE.indexOf(a) - SEQUENCE.indexOf(b)));
}

/** The members of a mapping, by the member that has them. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  '': [
    ...['source_order_id', 'order_number', 'customer', 'address', 'emirate', 'area', 'items', 'total', 'currency'],
    ...TEXT_FIELD_NAMES,
  ],
  customer: ['name', 'phone', 'email', 'id'],
  items: ['list', 'name', 'quantity', 'sku', 'omit_if_zero', 'only', 'except'],
};

/**
 * Suggests the member of a mapping that an unknown one probably means: one that is spelled alike, or the field that it names.
 *
 * @param path of the unknown member.
 * @returns for example `customer.phone`; null if none is likely.
 */
function suggestMember(path: readonly (string | number)[]): string | null {
  const name = String(path.at(-1) ?? '');
  const parent = path.length === 1 ? '' : String(path[0]);
  const nearest = nearestName(name, Object.hasOwn(MEMBERS, parent) ? (MEMBERS[parent] ?? []) : []);
  if (nearest !== null) return parent === '' ? nearest : `${parent}.${nearest}`;
  return (
    suggestField(name)
      ?.slice(1)
      .replace(/\/\d+\//, '.')
      .replace('/', '.') ?? null
  );
}

const MAX_CONSTANT = 255;
const MAX_SEPARATOR = 10;
const MAX_CANDIDATES = 10;
const MAX_NUMBERED_ITEMS = 100;
const MAX_DETAIL_LABEL = 100;
/** Of one condition its values, and of one value its conditions. */
const [MAX_VALUES, MAX_CONDITIONS] = [20, 5];
/** Pointers and constants. All of these are read for each delivery, those inside `items` for each of its items. */
const [MAX_READ, MAX_ITEM_READ] = [500, 30];
/** Pointers into the entries of lists that are searched, each of which has up to 1,000. */
const MAX_SEARCHED_FOR = 50;
const MAX_ERRORS = 20;

/** Postgres cannot store U+0000 in JSON, nor a lone surrogate. */
const FORBIDDEN = /\0|\p{Cs}/u;

const POINTER_DETAIL =
  'Write a JSON Pointer such as /billing/phone: each step begins with a slash. A slash in a name is written ~1, a tilde ~0.';
const FIELD_DETAIL =
  'Write a JSON Pointer such as /billing/phone, {"join": ["/first_name", "/last_name"]}, {"find": "/notes", "where": {"/name": ["Date"]}, "value": "/value"}, {"constant": "AED"}, or a list of these: the first value that is present is used.';
const DETAILS_DETAIL =
  'Write a list of {"label": "Gift card text", "value": "/gift_message"} and {"each": "/note_attributes", "label": "/name", "value": "/value"}.';
const ITEMS_DETAIL =
  'Write {"list": "/line_items", "name": "/name"}, with pointers that start at the item, or a list with one object for each item, whose pointers start at the top.';

const text = Joi.string().custom((value: string, helpers) =>
  FORBIDDEN.test(value) ? helpers.error('any.invalid') : value,
);
const pointer = text
  .max(MAX_POINTER)
  .custom((value: string, helpers) => (isJsonPointer(value) ? value : helpers.error('pointer')));
const pointerOrPointers = Joi.alternatives(pointer, Joi.array().items(pointer).min(1).max(MAX_CANDIDATES));
const scalar = Joi.alternatives(
  text.allow('').max(MAX_CONSTANT),
  Joi.number().unsafe(),
  Joi.boolean(),
  Joi.valid(null),
);
const conditions = Joi.object()
  .pattern(pointer, Joi.array().items(scalar).min(1).max(MAX_VALUES))
  .min(1)
  .max(MAX_CONDITIONS);
const conditional = { if: conditions, except: conditions };
const found = Joi.object({ find: pointer.required(), where: conditions.required(), value: pointer.required() });
const constant = Joi.object({
  constant: Joi.alternatives(text.max(MAX_CONSTANT), Joi.number().unsafe()).required(),
  ...conditional,
});
const divided = Joi.object({
  divide: pointer.required(),
  by_digits: Joi.alternatives(Joi.number().integer().min(0).max(6), pointer).required(),
});
const part = Joi.alternatives(pointer, found, constant);
const entries = {
  each: pointer.required(),
  label: pointerOrPointers,
  value: pointerOrPointers.required(),
  except: conditions,
};
const partOrParts = Joi.alternatives(part, Joi.object(entries), Joi.array().items(part).min(1).max(MAX_CANDIDATES));
const joined = Joi.object({
  join: Joi.array().items(partOrParts).min(1).max(MAX_CANDIDATES).required(),
  separator: text.allow('').max(MAX_SEPARATOR),
  ...conditional,
});
const field = Joi.alternatives(
  pointer,
  joined,
  found,
  divided,
  constant,
  Joi.array().items(pointer, joined, found, divided, constant).min(1).max(MAX_CANDIDATES),
);
const itemFields = { name: field, quantity: field, sku: field };
const itemsInList = Joi.object({
  list: pointerOrPointers.required(),
  ...itemFields,
  omit_if_zero: pointer,
  only: conditions,
  except: conditions,
}).custom((value: object, helpers) => (countRead(value) > MAX_ITEM_READ ? helpers.error('pointers.item') : value));
const numberedItems = Joi.array().items(Joi.object(itemFields).min(1)).min(1).max(MAX_NUMBERED_ITEMS);

const details = Joi.array()
  .items(
    Joi.object({ label: text.max(MAX_DETAIL_LABEL).required(), value: field.required() }),
    Joi.object({ ...entries, label: pointerOrPointers.required() }),
  )
  .min(1)
  .max(MAX_DETAILS);

const mapping = Joi.object({
  source_order_id: field.required(),
  order_number: field,
  customer: Joi.object({ name: field, phone: field, email: field, id: field }),
  address: field,
  emirate: field,
  area: field,
  // biome-ignore lint/suspicious/noThenProperty: joi's name of a branch.
  items: Joi.alternatives().conditional(Joi.array(), { then: numberedItems, otherwise: itemsInList }),
  total: field,
  currency: field,
  ...ofTextFields(() => field),
  details,
})
  .required()
  .custom((value: object, helpers) => (countRead(value) > MAX_READ ? helpers.error('pointers') : value))
  .custom((value: object, helpers) =>
    countSearchedFor(value) > MAX_SEARCHED_FOR ? helpers.error('pointers.searched') : value,
  )
  .prefs({ convert: false, abortEarly: false });

/** Code and detail by joi's error type; those of alternatives are about a field. */
const ERRORS: Readonly<Record<string, { code: string; detail: string }>> = {
  'any.required': { code: 'required', detail: 'This is required.' },
  'object.base': { code: 'not_an_object', detail: 'This must be an object.' },
  'object.min': { code: 'empty', detail: 'Give at least one of name, quantity and sku.' },
  pointers: { code: 'too_many_pointers', detail: `A mapping has at most ${MAX_READ} pointers and constants.` },
  'pointers.item': {
    code: 'too_many_pointers',
    detail: `The mapping of an item has at most ${MAX_ITEM_READ} pointers and constants.`,
  },
  'pointers.searched': {
    code: 'too_many_pointers',
    detail: `The conditions of "find", and the details with "each", have at most ${MAX_SEARCHED_FOR} pointers.`,
  },
};
const FIELD_ERROR = { code: 'not_a_value', detail: FIELD_DETAIL };
const POINTER_ERROR = { code: 'not_a_pointer', detail: POINTER_DETAIL };
const DETAILS_ERROR = { code: 'not_details', detail: DETAILS_DETAIL };
const ITEMS_ERROR = { code: 'not_items', detail: ITEMS_DETAIL };

/**
 * Reads a mapping.
 *
 * @param at the pointer of the mapping in what was sent, before each pointer in `errors`.
 * @throws {Problem} `invalid_request` with up to 20 broken rules and their pointers in `errors`.
 */
export function readMapping(input: unknown, at = ''): OrderMapping {
  const { value, error } = mapping.validate(input);
  const errors: FieldError[] = [
    ...protoMembers(input).map((pointer) => ({ pointer: at + pointer, ...unknownField([]) })),
    ...(error?.details ?? [])
      .slice(0, MAX_ERRORS)
      .map(({ path, type }) => ({ pointer: at + toJsonPointer(path), ...errorOf(path, type) })),
  ].slice(0, MAX_ERRORS);
  if (errors.length === 0) return value as OrderMapping;
  throw new Problem('invalid_request', { detail: 'The mapping breaks the rules listed in "errors".', errors });
}

function errorOf(path: readonly (string | number)[], type: string): { code: string; detail: string } {
  if (path[0] === 'items' && path.length < 3 && !path[1] && !(type in ERRORS && type.startsWith('pointers')))
    return ITEMS_ERROR;
  if (path[0] === 'details' && path.length < 3) return DETAILS_ERROR;
  if (type === 'object.unknown') return unknownField(path);
  return ERRORS[type] ?? (type.startsWith('alternatives') ? FIELD_ERROR : POINTER_ERROR);
}

function unknownField(path: readonly (string | number)[]): { code: string; detail: string } {
  const suggestion = suggestMember(path);
  const question = suggestion === null ? '' : ` Did you mean ${suggestion}?`;
  return { code: 'unknown_field', detail: `This is no field of a mapping.${question}` };
}
