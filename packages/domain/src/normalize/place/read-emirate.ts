import { LIMITS } from '../limits.ts';
import { readText } from '../text.ts';
import type { WarningCode, WarningList } from '../warnings.ts';
import type { Emirate } from './emirates.ts';
import { findPlace, isShared, namesEmirate } from './find-place.ts';
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
  return toReading(whole.emirate, text);
}

function toReading(emirate: Emirate, rest: string | null): EmirateReading {
  return { emirate: emirate.name, emirate_code: emirate.code, rest };
}

function keepAsSent(text: string, code: WarningCode, warnings: WarningList): EmirateReading {
  warnings.add(POINTER, code);
  return { emirate: text, emirate_code: null, rest: null };
}

type Part = { text: string; emirate: Emirate | undefined; is: 'emirate' | 'misspelled' | 'place' | 'unknown' };

/** "Al Jimi, Al Ain" or "Deira - Dubai": those parts that name an emirate or a place in one have to agree. */
function readParts(text: string, warnings: WarningList): EmirateReading {
  const parts = splitParts(text)
    .filter((part) => !isCountry(toPlaceKey(part)))
    .map(readPart);
  const [emirate, ...others] = new Set(parts.flatMap((part) => part.emirate ?? []));
  if (others.length > 0 || (!emirate && isShared(text))) return keepAsSent(text, 'emirate_ambiguous', warnings);
  if (!emirate) return keepAsSent(text, 'emirate_unknown', warnings);
  const rest = parts.filter((part) => part.is === 'place' || part.is === 'unknown').map((part) => part.text);
  if (parts.some((part) => part.is === 'misspelled')) warnings.add(POINTER, 'emirate_mended');
  if (rest.length === 0) return toReading(emirate, null);
  warnings.add(POINTER, rest.length === parts.length ? 'emirate_from_place' : 'emirate_extracted');
  return toReading(emirate, rest.join(', '));
}

function readPart(text: string): Part {
  const place = findPlace(text);
  if (place) return { text, emirate: place.emirate, is: namesEmirate(place) ? 'emirate' : 'place' };
  const emirate = isShared(text) ? undefined : mendEmirate(text);
  return { text, emirate, is: emirate ? 'misspelled' : 'unknown' };
}
