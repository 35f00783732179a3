import { isJsonObject } from '../json-object.ts';
import { LIMITS } from '../limits.ts';
import type { WarningList } from '../warnings.ts';
import type { Emirate } from './emirates.ts';
import { emiratesOf, isAbroad, type Mention, type Part, readPart } from './find-mentions.ts';
import { mendEmirate } from './mend-emirate.ts';
import { splitParts } from './split-parts.ts';

/** Members of an address object that hold an emirate or a city, in any case, with or without underscores and hyphens. */
const PLACE_MEMBERS: ReadonlySet<string> = new Set(
  'emirate city town province state region governorate provincecode statecode'.split(' '),
);

/**
 * The emirate of an order that names none, from its area or from the end of its address, with the warning `inferred`;
 * undefined unless that is unmistakable: whatever names an emirate there, or a place in one, has to name the same one,
 * and nothing a place abroad.
 *
 * @param area as it is stored.
 * @param address as it is stored.
 * @param addressAsSent of an object, its members such as `city` are read too.
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
    // "Dubai - Al Ain Road": the area is short enough for each name in it to matter.
    ...areaParts.flatMap(({ mentions }) => mentions.flatMap(({ place }) => place.emirate ?? [])),
    ...addressParts.flatMap(({ mentions }) => emiratesOf(mentions)),
    ...parts.flatMap(misspelledIn),
  ]);
  if (!emirate || others.length > 0) return undefined;
  const isInArea = areaParts.some(tellsWhere);
  const isInAddress = tellsWhere(addressParts.findLast((part) => !saysNothing(part)));
  if (!isInArea && !isInAddress && emirateOfMembers(addressAsSent) !== emirate) return undefined;
  warnings.add(isInArea ? '/area' : '/address', 'inferred');
  return emirate;
}

function toParts(text: string | null): Part[] {
  return splitParts((text ?? '').replace(/\s*\bp\W{0,2}o\W{0,2}box\b/gi, ',')).map(readPart);
}

/** A misspelled name is enough for a doubt, not for an inference. */
function misspelledIn(part: Part): Emirate[] {
  const emirate = mendEmirate(part.words.map(({ key }) => key).join(''));
  return emirate ? [emirate] : [];
}

/** A number, a P.O. box, a phone, the country, or an abbreviation of two letters, which is too easily something else. */
function saysNothing(part: Part): boolean {
  return (
    isTooShort(part) || part.words.every(({ key, place }) => /^(?:ص|ب|صب)?\d*$/.test(key) || place?.kind === 'country')
  );
}

function isTooShort(part: Part): boolean {
  const [only, ...others] = part.words.filter(({ key }) => !/^\d+$/.test(key));
  return only?.key.length === 2 && others.length === 0;
}

/** Whether a part is or ends with a name. In Arabic it has to be one: شارع الشارقة is Sharjah Street. */
function tellsWhere(part: Part | undefined): boolean {
  const isClear = ({ place, isHere, isAtEnd, isWhole, isArabic }: Mention) =>
    place.emirate !== undefined && isHere && (isWhole || (isAtEnd && !isArabic));
  return part !== undefined && !isTooShort(part) && part.mentions.some(isClear);
}

/**
 * What the members of an address object name, where "SH" in `state` is not too short for an emirate. That they agree is
 * known, since the address as it is stored holds them all.
 */
function emirateOfMembers(address: unknown): Emirate | undefined {
  if (!isJsonObject(address)) return undefined;
  const parts = Object.entries(address).flatMap(([name, value]) => {
    const holdsPlace = PLACE_MEMBERS.has(name.toLowerCase().replace(/[^a-z]/g, '')) && typeof value === 'string';
    return holdsPlace ? toParts(value.slice(0, LIMITS.emirate)) : [];
  });
  return parts.flatMap(({ mentions }) => emiratesOf(mentions))[0];
}
