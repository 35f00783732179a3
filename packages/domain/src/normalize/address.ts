import { toDecimalText } from './decimal-text.ts';
import { LIMITS } from './limits.ts';
import { readText, removeForbidden } from './text.ts';
import type { WarningList } from './warnings.ts';

const POINTER = '/address';

/** Reads the address: a text, or an object or list whose parts are joined with ", " in document order. */
export function readAddress(value: unknown, warnings: WarningList): string | null {
  if (typeof value !== 'object' || value === null) return readText(value, POINTER, LIMITS.address, warnings);
  warnings.add(POINTER, 'address_joined');
  const parts: string[] = [];
  collectParts(value, parts);
  return readText(parts.join(', '), POINTER, LIMITS.address, warnings);
}

/** Texts and numbers at any depth; members that are neither, such as `"is_default": true`, say nothing about a place. */
function collectParts(value: unknown, parts: string[]): void {
  if (typeof value === 'string') {
    if (removeForbidden(value).trim() !== '') parts.push(value.trim());
  } else if (typeof value === 'number') {
    if (Number.isFinite(value)) parts.push(toDecimalText(value));
  } else if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) collectParts(part, parts);
  }
}
