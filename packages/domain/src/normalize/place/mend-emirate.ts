import { EMIRATES, type Emirate } from './emirates.ts';
import { isForeign, isNoTypo } from './find-place.ts';
import { removeSurroundings, toPlaceKey } from './place-key.ts';
import { typingDistance } from './typing-distance.ts';

const NAMES = EMIRATES.flatMap((emirate) =>
  [emirate.name, emirate.arabicName].map((name) => ({ emirate, key: toPlaceKey(name) })),
);

/** The emirate that a misspelled text is a small typo away from, if it is the only one. */
export function mendEmirate(text: string): Emirate | undefined {
  if (isForeign(text) || isNoTypo(text)) return undefined;
  const key = removeSurroundings(toPlaceKey(text));
  const near = NAMES.filter((name) => isNear(key, name.key)).map(({ emirate }) => emirate);
  // "Abu Dubai" is near to Abu Dhabi, and names another one.
  const named = NAMES.filter((name) => name.key.length > 3 && key.includes(name.key)).map(({ emirate }) => emirate);
  const [only, ...others] = new Set([...near, ...named]);
  return near.length > 0 && others.length === 0 ? only : undefined;
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
