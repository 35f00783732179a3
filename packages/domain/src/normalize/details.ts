import { isJsonObject, type JsonObject } from './json-object.ts';
import { removeForbidden, toDecimalText } from './text.ts';
import type { WarningList } from './warnings.ts';

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
export function readLines(facts: readonly unknown[] | JsonObject, pointer: string, warnings: WarningList): string {
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
