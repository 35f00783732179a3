import type { JsonObject } from './json-object.ts';
import type { WarningList } from './warnings.ts';

const MAX_NAME_LENGTH = 255;

/** Adds a warning for each unknown member of `object`, which is at `pointer`. */
export function warnOfUnknownMembers(
  object: JsonObject,
  known: ReadonlySet<string>,
  pointer: string,
  warnings: WarningList,
): void {
  for (const name of Object.keys(object)) {
    if (known.has(name)) continue;
    if (isPointable(name)) warnings.add(`${pointer}/${toReferenceToken(name)}`, 'unknown_field');
    else warnings.add(pointer, 'unknown_field', 'Has a member that is not a field of this interface');
  }
}

/** For names that are very long or that Postgres rejects, the warning points at the object instead. */
function isPointable(name: string): boolean {
  return name.length <= MAX_NAME_LENGTH && name.isWellFormed() && !name.includes('\0');
}

/** A reference token of a JSON pointer (RFC 6901). */
function toReferenceToken(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
