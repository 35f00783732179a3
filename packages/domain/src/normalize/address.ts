import { parseJsonText } from './json-object.ts';
import { LIMITS } from './limits.ts';
import { partsOf, readText } from './text.ts';
import type { WarningList } from './warnings.ts';

const POINTER = '/address';

/** Reads the address: a string, or an object or list whose parts are joined, also as JSON in a string. */
export function readAddress(sent: unknown, warnings: WarningList): string | null {
  const parsed = typeof sent === 'string' ? parseJsonText(sent) : undefined;
  if (parsed) warnings.add(POINTER, 'json_as_text');
  const value = parsed ?? sent;
  if (typeof value !== 'object' || value === null) return readText(value, POINTER, LIMITS.address, warnings);
  warnings.add(POINTER, 'address_joined');
  return readText(partsOf(value).join(', '), POINTER, LIMITS.address, warnings);
}
