import { toDecimalText } from './decimal-text.ts';
import { removeForbidden } from './text.ts';

/** More than any field keeps. What is behind it would be cut off anyway, and a list of large numbers takes long to write out. */
const MAX_LENGTH = 10_000;

/**
 * The texts and numbers inside an object or list, at any depth, in document order. Members that are neither, such as
 * `"is_default": true`, say nothing and are left out.
 */
export function partsOf(value: object): string[] {
  const parts: string[] = [];
  collectParts(value, parts, 0);
  return parts;
}

/** Collects from `value` what follows `length` characters; returns how many there are then. */
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
