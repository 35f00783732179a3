import { TYPO_EXCEPTIONS } from './ambiguous-places.ts';
import { EMIRATES, type Emirate } from './emirates.ts';
import { keysOfSpellings } from './expand-spellings.ts';
import { findPlace } from './find-place.ts';
import { toPlaceKey } from './place-key.ts';
import { typingDistance } from './typing-distance.ts';

const NAMES = EMIRATES.flatMap((emirate) =>
  [emirate.name, emirate.arabicName].map((name) => ({ emirate, key: withoutArticle(toPlaceKey(name)) })),
);
const EXCEPTIONS: ReadonlySet<string> = new Set(keysOfSpellings(TYPO_EXCEPTIONS));

/** The only emirate that a misspelled name, given by its key, is a small typo away from. */
export function correctEmirate(placeKey: string): Emirate | undefined {
  if (findPlace(placeKey) || EXCEPTIONS.has(placeKey) || /\d/.test(placeKey)) return undefined;
  const key = withoutArticle(placeKey);
  const [only, ...others] = new Set(NAMES.filter((name) => isNear(key, name.key)).map(({ emirate }) => emirate));
  return others.length === 0 ? only : undefined;
}

/** Sharjah and Fujairah are written with and without the article. */
function withoutArticle(key: string): string {
  return key.replace(/^(?:al|el|ash|ال)(?=(?:sh|f|ش|ف))/, '');
}

/** The first letter must be right: Buhairah is a place in Sharjah, and "Mubai" means Mumbai rather than Dubai. */
function isNear(key: string, name: string): boolean {
  const allowed = typosAllowed(name);
  if (Math.abs(key.length - name.length) > allowed || key[0] !== name[0]) return false;
  return typingDistance(key, name) <= allowed;
}

function typosAllowed(name: string): number {
  if (name.length < 4) return 0;
  return name.length < 10 ? 1 : 2;
}
