import { TEXT_FIELDS, type TextFieldName } from '../text-fields.ts';
import { readLines } from './details.ts';
import { isJsonObject } from './json-object.ts';
import { readText } from './text.ts';
import type { WarningList } from './warnings.ts';

/** The values of each text that has only some, by what is read as them. */
const VALUES: Partial<Record<TextFieldName, ReadonlyMap<string, string>>> = Object.fromEntries(
  Object.entries(TEXT_FIELDS).flatMap(([name, field]) => {
    if (!('values' in field)) return [];
    const spellings = Object.entries(field.values).flatMap(([value, others]) =>
      [toSpelling(value), ...others.split(/\s+/)].map((spelling) => [spelling, value] as const),
    );
    return [[name, new Map(spellings)]];
  }),
);

function toSpelling(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/**
 * Reads a text that senders may leave out: one of its values, if it has only some; its lines, if it has these and was sent as a list or an
 * object; else as any text.
 */
export function readTextField(name: TextFieldName, sent: unknown, warnings: WarningList): string | null {
  const field = TEXT_FIELDS[name];
  const isLines = 'hasLines' in field && (Array.isArray(sent) || isJsonObject(sent));
  const value = isLines ? readLines(sent, `/${name}`, warnings) : sent;
  const text = readText(value, `/${name}`, field.maxLength, warnings);
  const values = VALUES[name];
  if (text === null || !values) return text;
  const known = values.get(toSpelling(text));
  if (known === undefined) warnings.add(`/${name}`, 'value_unknown');
  return known ?? null;
}
