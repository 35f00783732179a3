import { LIMITS } from './limits.ts';
import { partsOf, readText } from './text.ts';
import type { WarningList } from './warnings.ts';

const POINTER = '/address';

/** Reads the address: a string, or an object or list whose parts are joined. */
export function readAddress(value: unknown, warnings: WarningList): string | null {
  if (typeof value !== 'object' || value === null) return readText(value, POINTER, LIMITS.address, warnings);
  warnings.add(POINTER, 'address_joined');
  return readText(partsOf(value).join(', '), POINTER, LIMITS.address, warnings);
}
