import { NO_TYPOS } from './doubtful-places.ts';
import { EMIRATES, type Emirate } from './emirates.ts';
import { keysOfSpellings } from './expand-spellings.ts';
import { findPlace } from './find-place.ts';
import { toPlaceKey } from './place-key.ts';
import { typingDistance } from './typing-distance.ts';

const NAMES = EMIRATES.flatMap((emirate) =>
  [emirate.name, emirate.arabicName].map((name) => ({ emirate, key: withoutArticle(toPlaceKey(name)) })),
);
const NOT_MISSPELLED: ReadonlySet<string> = new Set(keysOfSpellings(NO_TYPOS));

/** The emirate that a misspelled name, given by its key, is a small typo away from, if it is the only one. */
export function mendEmirate(placeKey: string): Emirate | undefined {
  if (findPlace(placeKey) || NOT_MISSPELLED.has(placeKey) || /\d/.test(placeKey)) return undefined;
  const key = withoutArticle(placeKey);
  const [only, ...others] = new Set(NAMES.filter((name) => isNear(key, name.key)).map(({ emirate }) => emirate));
  return others.length === 0 ? only : undefined;
}

/** Sharjah and Fujairah are written with and without. */
function withoutArticle(key: string): string {
  return key.replace(/^(?:al|el|ash|ال)(?=(?:sh|f|ش|ف))/, '');
}

/** The first letter has to be right: Buhairah is a place in Sharjah, and "Mubai" rather Mumbai than Dubai. */
function isNear(key: string, name: string): boolean {
  const allowed = typosAllowed(name);
  if (Math.abs(key.length - name.length) > allowed || key[0] !== name[0]) return false;
  return typingDistance(key, name) <= allowed;
}

function typosAllowed(name: string): number {
  if (name.length < 4) return 0;
  return name.length < 10 ? 1 : 2;
}
