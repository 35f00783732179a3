import { isJsonObject } from '../json-object.ts';
import type { WarningList } from '../warnings.ts';
import type { Emirate } from './emirates.ts';
import { findAnywhere, findAtEnd } from './find-in-words.ts';
import { findPlace, isForeign } from './find-place.ts';
import { isCountry, toPlaceKey } from './place-key.ts';
import { splitParts } from './split-parts.ts';

/** Members of an address object that hold an emirate or a city, in any case, with or without underscores. */
const PLACE_MEMBERS: ReadonlySet<string> = new Set(
  'emirate city town province state region governorate provincecode statecode'.split(' '),
);

/**
 * The emirate of an order that names none, from its area or from the end of its address, with the warning `inferred`;
 * undefined unless that is unmistakable: whatever names an emirate there has to name the same one, and nothing a place
 * elsewhere.
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
  const areaParts = tellingParts(area ?? '');
  const addressParts = tellingParts(address ?? '');
  if ([...areaParts, ...addressParts].some(isForeign)) return undefined;
  const [fromArea] = areaParts.flatMap((part) => emirateNamedBy(part) ?? emirateAtEndOf(part) ?? []);
  const fromAddress = emirateAtEndOfAddress(addressParts) ?? emirateOfMembers(addressAsSent);
  const emirate = fromArea ?? fromAddress;
  const named = [
    ...areaParts.flatMap((part) => [...findAnywhere(part)]),
    ...[...areaParts, ...addressParts].flatMap((part) => emirateNamedBy(part) ?? findAtEnd(part)?.emirate ?? []),
    ...(fromAddress ? [fromAddress] : []),
  ];
  if (!emirate || named.some((other) => other !== emirate)) return undefined;
  warnings.add(fromArea ? '/area' : '/address', 'inferred');
  return emirate;
}

/** The parts, without what stands at the end and says nothing: a number, a P.O. box, a phone, the country, a bare "DU". */
function tellingParts(text: string): string[] {
  const parts = splitParts(text).map((part) =>
    part.replace(/\s*\bp\W{0,2}o\W{0,2}box\b.*$/i, '').replace(/[\s-]\d{4,}$/, ''),
  );
  while (parts.length > 0 && saysNothing(parts.at(-1) ?? '')) parts.pop();
  return parts;
}

function saysNothing(part: string): boolean {
  const key = toPlaceKey(part);
  // Abbreviations of two letters (AD, SH) are too easily something else.
  return isCountry(key) || /^(?:صب)?\d*$/.test(key) || (key.length === 2 && findPlace(part)?.kind === 'abbreviation');
}

/** Of "Dubai", "SHJ" or "Dubai Marina". */
function emirateNamedBy(part: string): Emirate | undefined {
  const place = findPlace(part);
  return place?.kind === 'abbreviation' && toPlaceKey(part).length === 2 ? undefined : place?.emirate;
}

/** Not in Arabic, where the name at the end may belong to the street: شارع الشارقة is Sharjah Street. */
function emirateAtEndOf(part: string): Emirate | undefined {
  return /\p{Script=Arabic}/u.test(part) ? undefined : findAtEnd(part)?.emirate;
}

function emirateAtEndOfAddress(parts: readonly string[]): Emirate | undefined {
  const last = parts.at(-1) ?? '';
  return emirateNamedBy(last) ?? emirateAtEndOf(last);
}

function emirateOfMembers(address: unknown): Emirate | undefined {
  if (!isJsonObject(address)) return undefined;
  const places = Object.entries(address).flatMap(([name, value]) => {
    const holdsPlace = PLACE_MEMBERS.has(name.toLowerCase().replaceAll('_', '')) && typeof value === 'string';
    return holdsPlace ? (findPlace(value)?.emirate ?? []) : [];
  });
  const [only, ...others] = new Set(places);
  return others.length === 0 ? only : undefined;
}
