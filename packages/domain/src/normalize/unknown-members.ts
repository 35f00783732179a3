import type { JsonObject } from './json-object.ts';
import type { WarningList } from './warnings.ts';

const MAX_POINTED_AT = 255;

/** Warns of every member of `object`, which is at `pointer`, that the interface does not know. */
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

/** A name that is very long, or that Postgres would refuse, is left out: the pointer then ends at its object. */
function isPointable(name: string): boolean {
  return name.length <= MAX_POINTED_AT && name.isWellFormed() && !name.includes('\0');
}

/** One step of a pointer (RFC 6901). */
function toReferenceToken(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
