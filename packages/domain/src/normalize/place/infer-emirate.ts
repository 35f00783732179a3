import { isJsonObject } from '../json-object.ts';
import { LIMITS } from '../limits.ts';
import type { WarningList } from '../warnings.ts';
import { correctEmirate } from './correct-emirate.ts';
import type { Emirate } from './emirates.ts';
import { emiratesOf, isAbroad, type Mention, type Part, readPart } from './find-mentions.ts';
import { splitParts } from './split-parts.ts';

/** Members of an address object with an emirate or a city, in any case, with or without underscores and hyphens. */
const PLACE_MEMBERS: ReadonlySet<string> = new Set(
  'emirate city town province state region governorate provincecode statecode'.split(' '),
);

/**
 * Infers a missing emirate from the area or the end of the address, with the warning `inferred`. Undefined unless all emirates and places
 * mentioned there agree and none is abroad.
 *
 * @param area as stored.
 * @param address as stored.
 * @param addressAsSent of an object, members such as `city` are read too.
 */
export function inferEmirate(
  area: string | null,
  address: string | null,
  addressAsSent: unknown,
  warnings: WarningList,
): Emirate | undefined {
  const areaParts = toParts(area);
  const addressParts = toParts(address);
  const parts = [...areaParts, ...addressParts];
  if (parts.some(isAbroad)) return undefined;
  const [emirate, ...others] = new Set([
    // The area is short, so each name in it counts, even in "Dubai - Al Ain Road".
    ...areaParts.flatMap(({ mentions }) => mentions.flatMap(({ place }) => place.emirate ?? [])),
    ...addressParts.flatMap(({ mentions }) => emiratesOf(mentions)),
    ...parts.flatMap(misspelledIn),
  ]);
  if (!emirate || others.length > 0) return undefined;
  const isInArea = areaParts.some(locatesOrder);
  const isInAddress = locatesOrder(addressParts.findLast((part) => !isUninformative(part)));
  if (!isInArea && !isInAddress && emirateOfMembers(addressAsSent) !== emirate) return undefined;
  warnings.add(isInArea ? '/area' : '/address', 'inferred');
  return emirate;
}

function toParts(text: string | null): Part[] {
  return splitParts((text ?? '').replace(/\s*\bp\W{0,2}o\W{0,2}box\b/gi, ',')).map(readPart);
}

/** A misspelled name can contradict an inference, but not support one. */
function misspelledIn(part: Part): Emirate[] {
  const emirate = correctEmirate(part.words.map(({ key }) => key).join(''));
  return emirate ? [emirate] : [];
}

/** Numbers, P.O. boxes, phones, the country, and two-letter abbreviations, which are too ambiguous. */
function isUninformative(part: Part): boolean {
  return (
    isTooShort(part) || part.words.every(({ key, place }) => /^(?:ص|ب|صب)?\d*$/.test(key) || place?.kind === 'country')
  );
}

function isTooShort(part: Part): boolean {
  const [only, ...others] = part.words.filter(({ key }) => !/^\d+$/.test(key));
  return only?.key.length === 2 && others.length === 0;
}

/** Whether a part is or ends with a name. In Arabic it must be the name: شارع الشارقة is Sharjah Street. */
function locatesOrder(part: Part | undefined): boolean {
  const isClear = ({ place, isLocation, isAtEnd, isWhole, isArabic }: Mention) =>
    place.emirate !== undefined && isLocation && (isWhole || (isAtEnd && !isArabic));
  return part !== undefined && !isTooShort(part) && part.mentions.some(isClear);
}

/**
 * The emirate in the members of an address object, where "SH" in `state` is not too short. The members agree, because the stored address
 * contains them all.
 */
function emirateOfMembers(address: unknown): Emirate | undefined {
  if (!isJsonObject(address)) return undefined;
  const parts = Object.entries(address).flatMap(([name, value]) => {
    const holdsPlace = PLACE_MEMBERS.has(name.toLowerCase().replace(/[^a-z]/g, '')) && typeof value === 'string';
    return holdsPlace ? toParts(value.slice(0, LIMITS.emirate)) : [];
  });
  return parts.flatMap(({ mentions }) => emiratesOf(mentions))[0];
}
