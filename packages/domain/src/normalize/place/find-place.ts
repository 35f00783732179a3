import { COUNTRY_NAMES, FOREIGN_PLACES, SHARED_PLACES } from './ambiguous-places.ts';
import { EMIRATES, type Emirate } from './emirates.ts';
import { PLACES } from './places.ts';

/** The meaning of a name: an emirate, by name or abbreviation; a place within one; or none in particular. */
export type Place =
  | { kind: 'name' | 'abbreviation' | 'within'; emirate: Emirate }
  | { kind: 'shared' | 'foreign' | 'country'; emirate: undefined };

const PLACE_BY_KEY: ReadonlyMap<string, Place> = new Map([
  ...entries(SHARED_PLACES, { kind: 'shared', emirate: undefined }),
  ...entries(FOREIGN_PLACES, { kind: 'foreign', emirate: undefined }),
  ...entries(COUNTRY_NAMES, { kind: 'country', emirate: undefined }),
  ...EMIRATES.flatMap((emirate) => [
    ...entries(PLACES[emirate.name], { kind: 'within', emirate }),
    ...entries(emirate.abbreviations, { kind: 'abbreviation', emirate }),
    ...entries([emirate.name, emirate.arabicName, ...emirate.spellings], { kind: 'name', emirate }),
  ]),
]);

function entries(patterns: readonly string[], place: Place): [key: string, place: Place][] {
  return keysOfSpellings(patterns).map((key) => [key, place]);
}

/** Looks up a name by its `toPlaceKey` key. */
export function findPlace(key: string): Place | undefined {
  return PLACE_BY_KEY.get(key);
}

/** Whether it is an emirate itself, not a place in one. */
export function namesEmirate(place: Place): boolean {
  return place.kind === 'name' || place.kind === 'abbreviation';
}

/** The `toPlaceKey` keys of all spellings of some patterns. */
export function keysOfSpellings(patterns: readonly string[]): string[] {
  return patterns.flatMap(expandSpellings).map(toPlaceKey);
}

/**
 * All spellings of a pattern with brace expansion as in a shell, which may be nested: "D{i,e}b{,b}a" is "Diba", "Dibba", "Deba" and
 * "Debba".
 */
export function expandSpellings(pattern: string): string[] {
  // Innermost braces first. Commas separate alternatives, so no spelling may contain one.
  const [braces, alternatives] = /\{([^{}]*)\}/.exec(pattern) ?? [];
  if (braces === undefined || alternatives === undefined) return [pattern];
  const spellings = alternatives
    .split(',')
    .flatMap((alternative) => expandSpellings(pattern.replace(braces, alternative)));
  return [...new Set(spellings)];
}

/**
 * Folds a place name to a lookup key: no case, spaces, punctuation, accents or Arabic vowel signs, and one form each of alif, ya, kaf, ha and
 * ta marbuta. The key of several words is the concatenation of their keys.
 */
export function toPlaceKey(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]|\p{Lm}/gu, '')
    .replaceAll('ٱ', 'ا')
    .replace(/[ةہھۃ]/g, 'ه')
    .replace(/[ىیے]/g, 'ي')
    .replaceAll('ک', 'ك');
}
