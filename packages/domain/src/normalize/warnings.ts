import type { JsonObject } from './json-object.ts';

/** A correction by best effort: its position in the payload as sent (RFC 6901), a code and a sentence. */
export type Warning = { pointer: string; code: WarningCode; detail: string };

/**
 * How much a value is in doubt: `corrected` if nothing was guessed or lost; `check` if a person should look at it; `retype` if it was also lost
 * or not understood, so that a reviewer may not enter it.
 */
type Doubt = 'corrected' | 'check' | 'retype';

/**
 * Problem, remedy and doubt of each code. Codes are stable. The texts may be shown to anybody, so they never contain values of personal fields.
 */
export const WARNINGS = {
  not_text: ['Neither a string nor a number', 'left empty', 'retype'],
  means_nothing: ['A text such as None, False or n/a, which stands for nothing', 'left empty', 'corrected'],
  pair_as_text: ['A pair of an id and a name instead of a text', 'the name was read', 'corrected'],
  json_as_text: ['JSON in a string', 'read as what it contains', 'corrected'],
  number_as_text: ['A number instead of a string', 'kept as a decimal string', 'corrected'],
  inexact_number: [
    'A number too large for JSON to carry exactly',
    'its last digits may be wrong: send it as a string',
    'retype',
  ],
  out_of_range: ['The number is out of range', 'left empty', 'retype'],
  characters_removed: [
    'Contains control characters, bidirectional controls or noncharacters',
    'these were removed',
    'corrected',
  ],
  too_long: ['Longer than the limit of this field', 'the end was cut off', 'retype'],
  customer_as_text: ['A string instead of an object', 'kept as the name, and searched for a phone number', 'check'],
  customer_in_list: ['A list instead of an object', 'its only entry was read', 'corrected'],
  not_an_object: ['Not an object', 'ignored', 'retype'],
  phone_unreadable: ['Not a possible phone number', 'kept as sent', 'retype'],
  phone_not_valid: ['A phone number of a possible length that no numbering plan has', 'kept', 'check'],
  phone_in_parts: ['Parts instead of one string', 'joined and read as one string', 'corrected'],
  phone_extension: ['The phone number has an extension or a code', 'it is kept behind the number', 'corrected'],
  phone_second_number: ['More than one phone number', 'the first is kept', 'check'],
  phone_with_text: ['There is more than a phone number', 'only the number is kept', 'check'],
  phone_without_plus: ['A country code without + or 00 before it', 'read as if it had one', 'check'],
  phone_scientific: ['A phone number in scientific notation', 'read as the number it stands for', 'corrected'],
  phone_digits_lost: ['A spreadsheet rounded the last digits of this phone number away', 'kept as sent', 'retype'],
  email_implausible: ['Does not look like an e-mail address', 'kept as sent', 'retype'],
  address_joined: ['Parts instead of one string', 'joined in their order', 'corrected'],
  emirate_unknown: ['Not one of the seven emirates', 'kept as sent, without a code', 'retype'],
  emirate_ambiguous: ['May be in more than one emirate', 'kept as sent, without a code', 'retype'],
  emirate_corrected: ['The name of the emirate is misspelled', 'read as the only one with a similar name', 'corrected'],
  emirate_from_place: [
    'A place instead of an emirate',
    'its emirate was filled in; the place went to the area, if that was empty',
    'corrected',
  ],
  emirate_extracted: ['More than the name of an emirate', 'the rest went to the area, if that was empty', 'corrected'],
  emirate_contradicted: ['The area or the address names another emirate', 'the emirate is kept', 'check'],
  inferred: ['The emirate is missing or unknown', 'it was inferred from what is written here', 'check'],
  too_many_items: ['More than 1,000 items', 'the first 1,000 are kept, the others in the raw payload only', 'retype'],
  items_in_object: ['A list of items in another form', 'its entries were read as the items', 'corrected'],
  items_not_a_list: ['Not a list of items', 'read as a single item', 'corrected'],
  item_as_text: ['A string instead of an item object', 'kept as the name of the item', 'check'],
  not_an_item: ['Neither an item object nor a string', 'ignored', 'retype'],
  quantity_from_text: ['A string instead of a whole number', 'read as the number it spells', 'corrected'],
  quantity_unreadable: ['The quantity is not a whole number above zero', 'left empty', 'retype'],
  total_in_object: ['An object instead of an amount', 'its amount and its currency were read', 'corrected'],
  total_unreadable: ['Not an amount of money', 'left empty', 'retype'],
  total_negative: ['A negative amount', 'left empty', 'retype'],
  total_ambiguous: ['The separator in the amount can be read in two ways', 'please check the amount', 'retype'],
  total_fraction: ['More decimals than the currency has', 'kept', 'check'],
  total_rounded: ['More than 6 decimals', 'rounded to 6', 'corrected'],
  currency_unknown: ['Not an ISO 4217 currency', 'kept as sent', 'retype'],
  currency_ambiguous: [
    'The currency beside the amount may be one of several',
    'left empty: name it in `currency`',
    'retype',
  ],
  currency_conflict: ['Differs from the currency written in the total', 'this one is kept', 'check'],
  value_unknown: ['None of the values that this field can have', 'left empty', 'retype'],
  unknown_field: ['Not a field of this interface', 'kept in the raw payload only', 'check'],
  more_warnings: ['There are more problems than are listed', 'they were corrected too', 'check'],
} as const satisfies Record<string, readonly [problem: string, remedy: string, doubt: Doubt]>;

export type WarningCode = keyof typeof WARNINGS;

/** A small body can have a hundred thousand unknown members; their warnings must not outgrow the order itself. */
const MAX_WARNINGS = 1_000;
/** Exempt from the limit: it is the only sign that items are missing. */
const ALWAYS_LISTED: WarningCode = 'too_many_items';

/** Collects the warnings of one order in the order of reading. */
export class WarningList {
  readonly #warnings: Warning[] = [];
  #omitted = 0;

  /** @param problem replaces the general problem text of the code. */
  add(pointer: string, code: WarningCode, problem: string = WARNINGS[code][0]): void {
    if (this.#warnings.length >= MAX_WARNINGS && code !== ALWAYS_LISTED) this.#omitted++;
    else this.#warnings.push({ pointer, code, detail: `${problem}; ${WARNINGS[code][1]}.` });
  }

  /** Reads what is inside the value at `pointer` and has no place of its own in the payload: its warnings are about that value. */
  readInside<Value>(pointer: string, read: (inner: WarningList) => Value): Value {
    const inner = new WarningList();
    const value = read(inner);
    for (const { code } of inner.toArray()) this.add(pointer, code);
    return value;
  }

  /** All warnings, or the first 1,000 and one that counts the others. */
  toArray(): Warning[] {
    if (this.#omitted === 0) return this.#warnings;
    const detail = `${this.#omitted} more problems are not listed; they were corrected too.`;
    return [...this.#warnings, { pointer: '', code: 'more_warnings', detail }];
  }
}

/** The problems without their remedies, for an order that is rejected instead of corrected. */
export function toFieldErrors(warnings: readonly Warning[]): Warning[] {
  return warnings.map(({ pointer, code }) => ({ pointer, code, detail: `${WARNINGS[code][0]}.` }));
}

const MAX_NAME_LENGTH = 255;

/** A sender that adds a member to each item learns its name from the first items, and from a count that the others have it too. */
const MAX_WARNINGS_PER_NAME = 10;

/** Counts the unknown members of the objects in one list, by name. */
export class RepeatedMembers {
  readonly #counts = new Map<string, number>();
  /** The number of members without a warning of their own. */
  omitted = 0;

  /** @returns whether this member has a warning of its own: true for the first ten of the same name. */
  count(name: string): boolean {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    if (count > MAX_WARNINGS_PER_NAME) this.omitted++;
    return count <= MAX_WARNINGS_PER_NAME;
  }
}

/**
 * Adds a warning for each unknown member of `object`, which is at `pointer`.
 *
 * @param repeated counts them, if the object is one of a list, and limits the warnings.
 */
export function warnOfUnknownMembers(
  object: JsonObject,
  known: ReadonlySet<string>,
  pointer: string,
  warnings: WarningList,
  repeated?: RepeatedMembers,
): void {
  for (const name of Object.keys(object)) {
    if (known.has(name) || repeated?.count(name) === false) continue;
    if (isPointable(name)) warnings.add(`${pointer}/${toReferenceToken(name)}`, 'unknown_field');
    else warnings.add(pointer, 'unknown_field', 'Has a member that is not a field of this interface');
  }
}

/** For names that are very long or that Postgres rejects, the warning points at the object instead. */
function isPointable(name: string): boolean {
  return name.length <= MAX_NAME_LENGTH && name.isWellFormed() && !name.includes('\0');
}

/** A reference token of a JSON pointer (RFC 6901). */
function toReferenceToken(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
