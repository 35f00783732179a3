import { FOREIGN_PLACES, NO_TYPOS, SHARED_PLACES } from './doubtful-places.ts';
import { EMIRATES, type Emirate } from './emirates.ts';
import { expandSpellings } from './expand-spellings.ts';
import { removeSurroundings, toPlaceKey } from './place-key.ts';
import { PLACES } from './places.ts';

/** An emirate, and what was written for it: its name, an abbreviation, or a city or district of it. */
export type Place = { emirate: Emirate; kind: 'name' | 'abbreviation' | 'city' | 'district' };

const PLACE_BY_KEY: ReadonlyMap<string, Place> = new Map(
  EMIRATES.flatMap((emirate) => {
    const { cities, districts } = PLACES[emirate.name];
    return [
      ...entries(districts, { emirate, kind: 'district' }),
      ...entries(cities, { emirate, kind: 'city' }),
      ...entries(emirate.abbreviations, { emirate, kind: 'abbreviation' }),
      ...entries([emirate.name, emirate.arabicName, ...emirate.spellings], { emirate, kind: 'name' }),
    ];
  }),
);
const SHARED = keysOf(SHARED_PLACES);
const FOREIGN = keysOf(FOREIGN_PLACES);
const WITHOUT_TYPO = keysOf(NO_TYPOS);

function keysOf(patterns: readonly string[]): ReadonlySet<string> {
  return new Set(patterns.flatMap(expandSpellings).map(toPlaceKey));
}

function entries(patterns: readonly string[], place: Place): [key: string, place: Place][] {
  return patterns.flatMap(expandSpellings).map((spelling) => [toPlaceKey(spelling), place]);
}

/** What a text stands for, if all of it is the name of an emirate or of a place in exactly one ("Al Barsha 1" as well). */
export function findPlace(text: string): Place | undefined {
  const key = toPlaceKey(text);
  return PLACE_BY_KEY.get(key) ?? PLACE_BY_KEY.get(removeSurroundings(key)) ?? findNumbered(key);
}

/** Districts are divided by numbers, "Jumeirah 3" and "Mussafah M-10". */
function findNumbered(key: string): Place | undefined {
  const name = key.replace(/\d{1,3}$/, '');
  if (name === key) return undefined;
  const place = PLACE_BY_KEY.get(name) ?? PLACE_BY_KEY.get(name.replace(/[a-z]$/, ''));
  return place && !namesEmirate(place) ? place : undefined;
}

/** Whether it is an emirate itself that is named, and not a place in it. */
export function namesEmirate(place: Place): boolean {
  return place.kind === 'name' || place.kind === 'abbreviation';
}

/** Whether there is a place of this name in more than one emirate. */
export function isShared(text: string): boolean {
  return SHARED.has(toPlaceKey(text));
}

/** Whether a text names a place outside the Emirates. */
export function isForeign(text: string): boolean {
  return FOREIGN.has(toPlaceKey(text));
}

/** Whether a text that looks like a misspelled emirate is something else. */
export function isNoTypo(text: string): boolean {
  return WITHOUT_TYPO.has(toPlaceKey(text));
}
