import { COUNTRY_NAMES, FOREIGN_PLACES, NAMES_OF_PEOPLE, SHARED_PLACES } from './ambiguous-places.ts';
import { EMIRATES, type Emirate, type EmirateName } from './emirates.ts';
import { ABU_DHABI } from './places/abu-dhabi.ts';
import { DUBAI } from './places/dubai.ts';
import { AJMAN, FUJAIRAH, RAS_AL_KHAIMAH, SHARJAH, UMM_AL_QUWAIN } from './places/northern-emirates.ts';
import { keysOfSpellings, type PlaceNames } from './spellings.ts';

/**
 * Cities, districts, islands and free zones that senders give instead of an emirate. Only names that identify one emirate; the others are
 * in `SHARED_PLACES`.
 */
export const PLACES: Readonly<Record<EmirateName, readonly PlaceNames[]>> = {
  'Abu Dhabi': ABU_DHABI,
  Ajman: AJMAN,
  Dubai: DUBAI,
  Fujairah: FUJAIRAH,
  'Ras Al Khaimah': RAS_AL_KHAIMAH,
  Sharjah: SHARJAH,
  'Umm Al Quwain': UMM_AL_QUWAIN,
};

/** The meaning of a name: an emirate, by name or abbreviation; a place within one; or none in particular. */
export type Place =
  | { kind: 'name' | 'abbreviation'; emirate: Emirate }
  | { kind: 'within'; emirate: Emirate; isPersonal: boolean }
  | { kind: 'shared' | 'foreign' | 'country'; emirate: undefined };

const PERSONAL: ReadonlySet<string> = new Set(keysOfSpellings(NAMES_OF_PEOPLE));

const PLACE_BY_KEY: ReadonlyMap<string, Place> = new Map([
  ...entries(SHARED_PLACES.flat(), { kind: 'shared', emirate: undefined }),
  ...entries(FOREIGN_PLACES, { kind: 'foreign', emirate: undefined }),
  ...entries(COUNTRY_NAMES, { kind: 'country', emirate: undefined }),
  ...EMIRATES.flatMap((emirate) => [
    ...placesWithin(emirate),
    ...entries(emirate.abbreviations, { kind: 'abbreviation', emirate }),
    ...entries([emirate.name, emirate.arabicName, ...emirate.spellings], { kind: 'name', emirate }),
  ]),
]);

function entries(patterns: readonly string[], place: Place): [key: string, place: Place][] {
  return keysOfSpellings(patterns).map((key) => [key, place]);
}

/** The places in an emirate, and whether people and firms have the name too. */
function placesWithin(emirate: Emirate): [key: string, place: Place][] {
  const keys = keysOfSpellings(PLACES[emirate.name].flat());
  return keys.map((key) => [key, { kind: 'within', emirate, isPersonal: PERSONAL.has(key) }]);
}

/** Looks up a name by its `toPlaceKey` key. */
export function findPlace(key: string): Place | undefined {
  return PLACE_BY_KEY.get(key);
}

/** Whether it is an emirate itself, not a place in one. */
export function namesEmirate(place: Place): boolean {
  return place.kind === 'name' || place.kind === 'abbreviation';
}
