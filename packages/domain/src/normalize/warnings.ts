/** Something best effort had to mend: where in the payload as sent (RFC 6901), which kind, and a sentence about it. */
export type Warning = { pointer: string; code: string; detail: string };

/**
 * Every kind of warning. Codes are stable. Details may be shown to anybody and therefore never repeat a value of a
 * personal field.
 */
const WARNINGS = {
  not_text: 'Neither a text nor a number; left empty.',
  number_as_text: 'A number where a text belongs; its decimal text is kept.',
  inexact_number: 'A number too large for JSON to carry exactly; its last digits may be wrong. Send it as a text.',
  out_of_range: 'The number is too large; left empty.',
  characters_removed: 'Control characters, bidirectional controls or halves of surrogate pairs were removed.',
  too_long: 'Longer than its limit; the end was cut off.',
  customer_as_text: 'A text instead of an object; kept as the name, and searched for a phone number.',
  customer_in_list: 'A list instead of an object; its only entry was read.',
  not_an_object: 'Not an object; ignored.',
  phone_unreadable: 'Not a possible phone number; kept as sent.',
  phone_not_valid: 'A possible phone number, but not one that is in use.',
  phone_extension: 'The phone number has an extension, which is kept behind it.',
  email_implausible: 'Does not look like an e-mail address; kept as sent.',
  address_joined: 'Parts instead of one text; joined in their order.',
  emirate_unknown: 'Not one of the seven emirates; kept as sent, without a code.',
  emirate_mended: 'Misspelled; read as the only emirate with a similar name.',
  emirate_from_city: 'A city instead of an emirate; its emirate was filled in.',
  items_not_a_list: 'Not a list of items; read as a single item.',
  item_as_text: 'A text instead of an item object; kept as the item name.',
  not_an_item: 'Neither an item object nor a text; ignored.',
  quantity_from_text: 'A text instead of an integer; read as the number it spells.',
  quantity_unreadable: 'Not a positive whole number; left empty.',
  total_unreadable: 'Not an amount; left empty.',
  total_negative: 'A negative amount; left empty.',
  total_ambiguous: 'The separator can be read in two ways; check the amount.',
  total_fraction: 'More decimals than the currency has; kept.',
  total_rounded: 'More than 6 decimals; rounded to 6.',
  currency_unknown: 'Not an ISO 4217 currency; kept as sent.',
  currency_conflict: 'Differs from the currency written in the total; this one is used.',
  unknown_field: 'Not a field of this interface; kept in the raw payload only.',
} as const;

export type WarningCode = keyof typeof WARNINGS;

/** A small body can hold a hundred thousand unknown members; their warnings must not outgrow the order itself. */
const MAX_WARNINGS = 1_000;

/** Collects the warnings of one order, in the order in which its fields are read. */
export class WarningList {
  readonly #warnings: Warning[] = [];
  #omitted = 0;

  add(pointer: string, code: WarningCode, detail: string = WARNINGS[code]): void {
    if (this.#warnings.length < MAX_WARNINGS) this.#warnings.push({ pointer, code, detail });
    else this.#omitted++;
  }

  /** All warnings, or the first 1,000 and one about the whole payload that counts the others. */
  toArray(): Warning[] {
    if (this.#omitted === 0) return this.#warnings;
    const detail = `${this.#omitted} more warnings are not listed.`;
    return [...this.#warnings, { pointer: '', code: 'more_warnings', detail }];
  }
}
