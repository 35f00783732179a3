import type { JsonObject } from './json-object.ts';
import type { WarningList } from './warnings.ts';

/** Longer member names are shortened in pointers, which are then for people only. */
const MAX_NAME = 255;

/** Warns of every member of `object`, which is at `pointer`, that the interface does not know. */
export function warnOfUnknownMembers(
  object: JsonObject,
  known: ReadonlySet<string>,
  pointer: string,
  warnings: WarningList,
): void {
  for (const name of Object.keys(object)) {
    if (!known.has(name)) warnings.add(`${pointer}/${toReferenceToken(name)}`, 'unknown_field');
  }
}

/** One step of an RFC 6901 pointer. What Postgres would refuse in a name is shown as U+FFFD. */
function toReferenceToken(name: string): string {
  const short = name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name;
  return short.replaceAll('\0', '\uFFFD').toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1');
}
