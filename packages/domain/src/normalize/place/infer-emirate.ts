import type { WarningList } from '../warnings.ts';
import type { Emirate } from './emirates.ts';
import { findPlace, isForeign } from './find-place.ts';
import { isCountry, toPlaceKey } from './place-key.ts';
import { splitParts } from './split-parts.ts';

/** Short abbreviations (AD, SH) are too easily something else at the end of an address. */
const MIN_ABBREVIATION_LENGTH = 3;
const MAX_NAME_WORDS = 4;

/** "Bank of Sharjah", "the road to Dubai", "near Ajman": a name behind one of these is not where the address is. */
const LEADING_AWAY: ReadonlySet<string> = new Set([
  ...['of', 'to', 'from', 'for', 'near', 'nr', 'opp', 'opposite', 'behind', 'beside', 'besides', 'before', 'after'],
  ...['towards', 'toward', 'via', 'by', 'and', 'or', 'not', 'between', 'next', 'c/o', 'bank', 'side'],
]);

/**
 * The emirate of an order that names none, from its area or from the end of its address, with the warning `inferred`;
 * undefined unless that is unmistakable: whatever names an emirate there has to name the same.
 */
export function inferEmirate(area: string | null, address: string | null, warnings: WarningList): Emirate | undefined {
  const areaParts = partsOf(area ?? '');
  const addressParts = partsOf(address ?? '');
  if ([...areaParts, ...addressParts].some(isForeign)) return undefined;
  const [fromArea, ...otherAreas] = emiratesIn(areaParts);
  const [fromAddress, ...otherAddresses] = emiratesInAddress(addressParts);
  if (otherAreas.length > 0 || otherAddresses.length > 0) return undefined;
  if (fromArea && fromAddress && fromArea !== fromAddress) return undefined;
  const emirate = fromArea ?? fromAddress;
  if (emirate) warnings.add(fromArea ? '/area' : '/address', 'inferred');
  return emirate;
}

/** Without what ends a part or an address and says nothing: a number ("Al Barsha 1", a postcode), a P.O. box, the country. */
function partsOf(text: string): string[] {
  const parts = splitParts(text).map((part) => part.replace(/[\s-][a-z]?-?\d+$/i, ''));
  while (parts.length > 0 && saysNothing(parts.at(-1) ?? '')) parts.pop();
  return parts;
}

function saysNothing(part: string): boolean {
  return isCountry(toPlaceKey(part)) || /^(?:p\W*o\W*box|ص\W*ب)?[\s\d#:.-]*$/i.test(part);
}

/** Every emirate that a part names. */
function emiratesIn(parts: readonly string[]): Set<Emirate> {
  return new Set(parts.flatMap((part) => emirateNamedBy(part) ?? emirateAtEndOf(part) ?? []));
}

/** The same, but none if the last part of the address names none: "Sharjah Co-op, Street 5" may be anywhere. */
function emiratesInAddress(address: readonly string[]): Set<Emirate> {
  const emirates = emiratesIn(address);
  return emiratesIn(address.slice(-1)).size > 0 ? emirates : new Set();
}

/** Of "Dubai", "SHJ" or "Dubai Marina". */
function emirateNamedBy(part: string): Emirate | undefined {
  const place = findPlace(part);
  const isTooShort = place?.kind === 'abbreviation' && toPlaceKey(part).length < MIN_ABBREVIATION_LENGTH;
  return isTooShort ? undefined : place?.emirate;
}

/**
 * Of "Flat 5 Rose Tower Dubai", unless another emirate is named before. Not in Arabic, where the name at the end may
 * belong to the street: شارع الشارقة is Sharjah Street.
 */
function emirateAtEndOf(part: string): Emirate | undefined {
  const words = part.split(/\s+/);
  for (let count = Math.min(MAX_NAME_WORDS, words.length - 1); count > 0; count--) {
    const emirate = emirateNamedByWords(words.slice(-count));
    if (!emirate) continue;
    const before = words.slice(0, -count);
    const isElsewhere = LEADING_AWAY.has(before.at(-1)?.toLowerCase().replace(/[.:]$/, '') ?? '');
    return isElsewhere || namesOther(before, emirate) ? undefined : emirate;
  }
  return undefined;
}

function emirateNamedByWords(words: readonly string[]): Emirate | undefined {
  const text = words.join(' ');
  if (!/^[\p{Script=Latin}\p{P}\s]+$/u.test(text)) return undefined;
  const place = findPlace(text);
  // "Alain" is a first name, "Al Ain" a city.
  const isClear = place?.kind === 'name' || (place?.kind === 'city' && words.length > 1);
  return isClear ? place?.emirate : undefined;
}

function namesOther(words: readonly string[], emirate: Emirate): boolean {
  return words.some((_, start) =>
    [1, 2, 3].some((count) => {
      const named = emirateNamedByWords(words.slice(start, start + count));
      return named !== undefined && named !== emirate;
    }),
  );
}
