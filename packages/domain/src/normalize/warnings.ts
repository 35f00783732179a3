/** A correction by best effort: its position in the payload as sent (RFC 6901), a code and a sentence. */
export type Warning = { pointer: string; code: WarningCode; detail: string };

/**
 * Problem and remedy of each code. Codes are stable. The texts may be shown to anybody, so they never contain values of personal fields.
 */
export const WARNINGS = {
  not_text: ['Neither a string nor a number', 'left empty'],
  means_nothing: ['A text such as None, False or n/a, which stands for nothing', 'left empty'],
  pair_as_text: ['A pair of an id and a name instead of a text', 'the name was read'],
  json_as_text: ['JSON in a string', 'read as what it contains'],
  number_as_text: ['A number instead of a string', 'kept as a decimal string'],
  inexact_number: ['A number too large for JSON to carry exactly', 'its last digits may be wrong: send it as a string'],
  out_of_range: ['The number is out of range', 'left empty'],
  characters_removed: ['Contains control characters, bidirectional controls or noncharacters', 'these were removed'],
  too_long: ['Longer than the limit of this field', 'the end was cut off'],
  customer_as_text: ['A string instead of an object', 'kept as the name, and searched for a phone number'],
  customer_in_list: ['A list instead of an object', 'its only entry was read'],
  not_an_object: ['Not an object', 'ignored'],
  phone_unreadable: ['Not a possible phone number', 'kept as sent'],
  phone_not_valid: ['A phone number of a possible length that no numbering plan has', 'kept'],
  phone_in_parts: ['Parts instead of one string', 'joined and read as one string'],
  phone_extension: ['The phone number has an extension or a code', 'it is kept behind the number'],
  phone_second_number: ['More than one phone number', 'the first is kept'],
  phone_with_text: ['There is more than a phone number', 'only the number is kept'],
  phone_without_plus: ['A country code without + or 00 before it', 'read as if it had one'],
  phone_scientific: ['A phone number in scientific notation', 'read as the number it stands for'],
  phone_digits_lost: ['A spreadsheet rounded the last digits of this phone number away', 'kept as sent'],
  email_implausible: ['Does not look like an e-mail address', 'kept as sent'],
  address_joined: ['Parts instead of one string', 'joined in their order'],
  emirate_unknown: ['Not one of the seven emirates', 'kept as sent, without a code'],
  emirate_ambiguous: ['May be in more than one emirate', 'kept as sent, without a code'],
  emirate_corrected: ['The name of the emirate is misspelled', 'read as the only one with a similar name'],
  emirate_from_place: [
    'A place instead of an emirate',
    'its emirate was filled in; the place went to the area, if that was empty',
  ],
  emirate_extracted: ['More than the name of an emirate', 'the rest went to the area, if that was empty'],
  emirate_contradicted: ['The area or the address names another emirate', 'the emirate is kept'],
  inferred: ['The emirate is missing or unknown', 'it was inferred from what is written here'],
  too_many_items: ['More than 1,000 items', 'the first 1,000 are kept, the others in the raw payload only'],
  items_in_object: ['A list of items in another form', 'its entries were read as the items'],
  items_not_a_list: ['Not a list of items', 'read as a single item'],
  item_as_text: ['A string instead of an item object', 'kept as the name of the item'],
  not_an_item: ['Neither an item object nor a string', 'ignored'],
  quantity_from_text: ['A string instead of a whole number', 'read as the number it spells'],
  quantity_unreadable: ['The quantity is not a whole number above zero', 'left empty'],
  total_in_object: ['An object instead of an amount', 'its amount and its currency were read'],
  total_unreadable: ['Not an amount of money', 'left empty'],
  total_negative: ['A negative amount', 'left empty'],
  total_ambiguous: ['The separator in the amount can be read in two ways', 'please check the amount'],
  total_fraction: ['More decimals than the currency has', 'kept'],
  total_rounded: ['More than 6 decimals', 'rounded to 6'],
  currency_unknown: ['Not an ISO 4217 currency', 'kept as sent'],
  currency_ambiguous: ['The currency beside the amount may be one of several', 'left empty: name it in `currency`'],
  currency_conflict: ['Differs from the currency written in the total', 'this one is kept'],
  value_unknown: ['None of the values that this field can have', 'left empty'],
  unknown_field: ['Not a field of this interface', 'kept in the raw payload only'],
  more_warnings: ['There are more problems than are listed', 'they were corrected too'],
} as const satisfies Record<string, readonly [problem: string, remedy: string]>;

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
