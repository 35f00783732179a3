import { TEXT_FIELDS, type TextFieldName } from '../text-fields.ts';
import { isJsonObject, type JsonObject } from './json-object.ts';
import { readText, removeForbidden, toDecimalText } from './text.ts';
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

/** Max facts of an order, and of each the max length of its label and its value, in UTF-16 units. */
export const MAX_DETAILS = 30;
const [MAX_LABEL, MAX_VALUE] = [100, 500];

/** Members that hold the label of a fact in the lists of platforms. */
const LABELS = ['label', 'name', 'key', 'title'] as const;

/**
 * Reads facts that have no field: a list of `{ label, value }`, of texts, or an object whose members are the labels. One without a value is
 * left out. More than 30 leave a warning at `pointer`.
 *
 * @returns a line `label: value` for each.
 */
function readLines(facts: readonly unknown[] | JsonObject, pointer: string, warnings: WarningList): string {
  const lines: string[] = [];
  for (const fact of Array.isArray(facts) ? facts : Object.entries(facts)) {
    const line = lineOf(fact);
    if (line === null) continue;
    if (lines.length === MAX_DETAILS) {
      warnings.add(pointer, 'too_long', `More than ${MAX_DETAILS} details`);
      break;
    }
    lines.push(line);
  }
  return lines.join('\n');
}

function lineOf(fact: unknown): string | null {
  if (!isJsonObject(fact)) {
    const [label, value] = Array.isArray(fact) ? fact : [undefined, fact];
    return toLine(label, value);
  }
  return toLine(
    LABELS.map((name) => fact[name]).find((label) => typeof label === 'string'),
    fact.value,
  );
}

function toLine(label: unknown, value: unknown): string | null {
  const [before, after] = [oneLine(label, MAX_LABEL), oneLine(value, MAX_VALUE)];
  if (after === '') return null;
  return before === '' ? after : `${before}: ${after}`;
}

function oneLine(value: unknown, maxLength: number): string {
  const text = typeof value === 'number' ? toDecimalText(value) : typeof value === 'boolean' ? String(value) : value;
  return typeof text === 'string' ? removeForbidden(text.slice(0, maxLength).toWellFormed()).replace(/\s+/g, ' ') : '';
}
