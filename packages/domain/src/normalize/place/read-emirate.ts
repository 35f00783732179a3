import { LIMITS } from '../limits.ts';
import { readText } from '../text.ts';
import type { WarningCode, WarningList } from '../warnings.ts';
import type { Emirate } from './emirates.ts';
import { findAnywhere, findAtEnd } from './find-in-words.ts';
import { findPlace, isForeign, isShared, namesEmirate } from './find-place.ts';
import { mendEmirate } from './mend-emirate.ts';
import { isCountry, toPlaceKey } from './place-key.ts';
import { splitParts } from './split-parts.ts';

const POINTER = '/emirate';

/** The emirate fields of an order; `rest` is what was given in its place or beside it, and belongs into an empty area. */
export type EmirateReading = { emirate: string | null; emirate_code: string | null; rest: string | null };

/**
 * Reads the emirate from its name, code or abbreviation, silently; from a place in it, from a name among others, or from
 * a misspelled one, with a warning. What is none of these, or may be two, is kept as sent, without a code: no guess
 * routes an order.
 */
export function readEmirate(value: unknown, warnings: WarningList): EmirateReading {
  const text = readText(value, POINTER, LIMITS.emirate, warnings);
  if (text === null) return { emirate: null, emirate_code: null, rest: null };
  const whole = findPlace(text);
  if (!whole) return readParts(text, warnings);
  if (namesEmirate(whole)) return toReading(whole.emirate, null);
  warnings.add(POINTER, 'emirate_from_place');
  const rest = splitParts(text).filter((part) => !isCountry(toPlaceKey(part)));
  return toReading(whole.emirate, rest.join(', '));
}

/** What forms send when nothing was chosen. */
const FILLERS: ReadonlySet<string> = new Set(['', ...'na none null other others select selectemirate'.split(' ')]);

/** Whether the emirate that was read is none, not even an unknown one: absent, only the country, or a filler. */
export function saysNoEmirate(emirate: string | null): boolean {
  const key = toPlaceKey(emirate ?? '');
  return FILLERS.has(key) || isCountry(key);
}

function toReading(emirate: Emirate, rest: string | null): EmirateReading {
  return { emirate: emirate.name, emirate_code: emirate.code, rest };
}

function keepAsSent(text: string, code: WarningCode, warnings: WarningList): EmirateReading {
  warnings.add(POINTER, code);
  return { emirate: text, emirate_code: null, rest: null };
}

/** `rest`: what of the part is not the emirate itself. */
type Part = { text: string; emirate: Emirate | undefined; rest: string; isMisspelled: boolean };

/** "Al Jimi, Al Ain", "Deira - Dubai" or "JVC Dubai": whatever names an emirate or a place in one has to agree. */
function readParts(text: string, warnings: WarningList): EmirateReading {
  const texts = splitParts(text).flatMap(splitAtHyphens);
  const parts = texts.filter((part) => !isCountry(toPlaceKey(part))).map(readPart);
  const [emirate, ...others] = new Set(parts.flatMap((part) => part.emirate ?? []));
  if (!emirate || texts.some(isForeign)) {
    return keepAsSent(text, isShared(text) ? 'emirate_ambiguous' : 'emirate_unknown', warnings);
  }
  const mentioned = parts.flatMap((part) => [...findAnywhere(part.rest)]);
  if (others.length > 0 || mentioned.some((other) => other !== emirate)) {
    return keepAsSent(text, 'emirate_ambiguous', warnings);
  }
  if (parts.some((part) => part.isMisspelled)) warnings.add(POINTER, 'emirate_mended');
  const rest = parts.filter((part) => part.rest !== '').map((part) => part.rest);
  if (rest.length === 0) return toReading(emirate, null);
  const isNamed = parts.some((part) => part.emirate && part.rest !== part.text);
  warnings.add(POINTER, isNamed ? 'emirate_extracted' : 'emirate_from_place');
  return toReading(emirate, rest.join(', '));
}

/** "Dubai-Deira", but not "Abu-Dhabi" or "Al-Ain". */
function splitAtHyphens(part: string): string[] {
  if (findPlace(part)) return [part];
  const halves = part.split(/[-–—]/).map((half) => half.trim());
  return halves.some((half) => findPlace(half)) ? halves.filter((half) => half !== '') : [part];
}

function readPart(text: string): Part {
  const place = findPlace(text);
  if (place) return { text, emirate: place.emirate, rest: namesEmirate(place) ? '' : text, isMisspelled: false };
  const misspelled = isShared(text) ? undefined : mendEmirate(text);
  if (misspelled) return { text, emirate: misspelled, rest: '', isMisspelled: true };
  const ending = findAtEnd(text);
  return { text, emirate: ending?.emirate, rest: ending?.before ?? text, isMisspelled: false };
}
