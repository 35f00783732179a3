import { toDecimalText } from './decimal-text.ts';
import { removeForbidden } from './text.ts';

/** Longer than any field. The rest would be cut off anyway, and formatting a list of large numbers is slow. */
const MAX_LENGTH = 10_000;

/**
 * The strings and numbers inside an object or list, at any depth, in document order. Other values, such as booleans, are skipped.
 */
export function partsOf(value: object): string[] {
  const parts: string[] = [];
  collectParts(value, parts, 0);
  return parts;
}

/** Appends the parts of `value`; `length` is the number of characters so far. Returns the new length. */
function collectParts(value: unknown, parts: string[], length: number): number {
  if (length > MAX_LENGTH) return length;
  const part = toPart(value);
  if (part !== '') {
    parts.push(part);
    return length + part.length;
  }
  if (typeof value !== 'object' || value === null) return length;
  return Object.values(value).reduce<number>((sum, inner) => collectParts(inner, parts, sum), length);
}

function toPart(value: unknown): string {
  if (typeof value === 'number') return toDecimalText(value) ?? '';
  return typeof value === 'string' && removeForbidden(value) !== '' ? value.trim() : '';
}
