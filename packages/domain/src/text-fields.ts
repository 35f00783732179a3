/** A text of an order that senders may leave out. */
interface TextField {
  /** In code points; longer ones are cut, with a warning. */
  maxLength: number;
  /** What it is, for the OpenAPI document. */
  description: string;
  example: string;
  /** What senders call it, in English and Arabic: column headings and members, separated by commas. */
  names: string;
}

/**
 * The texts of an order that senders may leave out, by their name: the member in JSON, the column in Postgres, the member of a mapping.
 * Reading, comparing, editing, erasing, storing, mapping, exporting, documenting and showing them follows from this list. "Where things are
 * added" in CONTRIBUTING.md names what else a new one needs.
 */
export const TEXT_FIELDS = {
  delivery_instructions: {
    maxLength: 2_000,
    description: 'Free text for the driver',
    example: 'Call before arrival',
    names: `delivery instructions, delivery instruction, instructions, delivery notes, delivery note, notes, note, remarks,
      remark, comments, comment, ملاحظات, ملاحظة, ملاحظات التوصيل, تعليمات التوصيل`,
  },
} as const satisfies Record<string, TextField>;

export type TextFieldName = keyof typeof TEXT_FIELDS;

/** Their names, in the order in which they are shown. */
export const TEXT_FIELD_NAMES = Object.keys(TEXT_FIELDS) as readonly TextFieldName[];

/** A value for each of these fields. */
export type OfTextFields<Value> = Record<TextFieldName, Value>;

/** Makes an object with a value for each of these fields. */
export function ofTextFields<Value>(valueFor: (name: TextFieldName) => Value): OfTextFields<Value> {
  const values = {} as OfTextFields<Value>;
  for (const name of TEXT_FIELD_NAMES) values[name] = valueFor(name);
  return values;
}
