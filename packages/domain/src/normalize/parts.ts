import { toDecimalText } from './decimal-text.ts';
import { removeForbidden } from './text.ts';

/**
 * The texts and numbers inside an object or list, at any depth, joined with ", " in document order. Members that are
 * neither, such as `"is_default": true`, say nothing and are left out.
 */
export function joinParts(value: object): string {
  const parts: string[] = [];
  collectParts(value, parts);
  return parts.join(', ');
}

function collectParts(value: unknown, parts: string[]): void {
  if (typeof value === 'string') {
    if (removeForbidden(value) !== '') parts.push(value.trim());
  } else if (typeof value === 'number') {
    if (Number.isFinite(value)) parts.push(toDecimalText(value));
  } else if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) collectParts(part, parts);
  }
}
