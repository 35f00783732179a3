import type { JsonObject } from './json-object.ts';
import type { WarningList } from './warnings.ts';

const MAX_NAME_LENGTH = 255;

/** A sender that adds a member to each item learns its name from the first items, and from a count that the others have it too. */
const MAX_WARNINGS_PER_NAME = 10;

/** Counts the unknown members of the objects in one list, by name. */
export class RepeatedMembers {
  readonly #counts = new Map<string, number>();
  /** The number of members without a warning of their own. */
  omitted = 0;

  /** @returns whether this member has a warning of its own: true for the first ten of the same name. */
  count(name: string): boolean {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    if (count > MAX_WARNINGS_PER_NAME) this.omitted++;
    return count <= MAX_WARNINGS_PER_NAME;
  }
}

/**
 * Adds a warning for each unknown member of `object`, which is at `pointer`.
 *
 * @param repeated counts them, if the object is one of a list, and limits the warnings.
 */
export function warnOfUnknownMembers(
  object: JsonObject,
  known: ReadonlySet<string>,
  pointer: string,
  warnings: WarningList,
  repeated?: RepeatedMembers,
): void {
  for (const name of Object.keys(object)) {
    if (known.has(name) || repeated?.count(name) === false) continue;
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
