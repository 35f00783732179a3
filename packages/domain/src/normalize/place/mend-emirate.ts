import { EMIRATES, type Emirate } from './emirates.ts';
import { isForeign } from './find-place.ts';
import { removeSurroundings, toPlaceKey } from './place-key.ts';
import { typingDistance } from './typing-distance.ts';

const NAMES = EMIRATES.flatMap((emirate) =>
  [emirate.name, emirate.arabicName].map((name) => ({ emirate, key: toPlaceKey(name) })),
);

/** The emirate that a misspelled text is a small typo away from, if it is the only one. */
export function mendEmirate(text: string): Emirate | undefined {
  const key = removeSurroundings(toPlaceKey(text));
  if (isForeign(text)) return undefined;
  const near = new Set(NAMES.filter((name) => isNear(key, name.key)).map(({ emirate }) => emirate));
  const [only] = near;
  return near.size === 1 ? only : undefined;
}

function isNear(key: string, name: string): boolean {
  const allowed = typosAllowed(name);
  if (Math.abs(key.length - name.length) > allowed || !beginsLike(key, name)) return false;
  return typingDistance(key, name) <= allowed;
}

function typosAllowed(name: string): number {
  if (name.length < 4) return 0;
  return name.length < 8 ? 1 : 2;
}

/** In a short name a typo at the beginning is too much: "Mubai" is rather Mumbai than Dubai. */
function beginsLike(key: string, name: string): boolean {
  return name.length > 5 || key[0] === name[0];
}
