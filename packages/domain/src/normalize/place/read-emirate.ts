import { LIMITS } from '../limits.ts';
import { readText } from '../text.ts';
import type { WarningCode, WarningList } from '../warnings.ts';
import type { Emirate } from './emirates.ts';
import { findPlace, isShared } from './find-place.ts';
import { mendEmirate } from './mend-emirate.ts';
import { isCountry, toPlaceKey } from './place-key.ts';
import { splitParts } from './split-parts.ts';

const POINTER = '/emirate';

/** The emirate fields of an order; `rest` is what was given in its place or beside it, and belongs into an empty area. */
export type EmirateReading = { emirate: string | null; emirate_code: string | null; rest: string | null };

/**
 * Reads the emirate from its name, code or abbreviation, silently; from a place in it, or from its name among others,
 * with a warning. What is none of these, or may be two, is kept as sent, without a code: no guess routes an order.
 */
export function readEmirate(value: unknown, warnings: WarningList): EmirateReading {
  const text = readText(value, POINTER, LIMITS.emirate, warnings);
  if (text === null) return { emirate: null, emirate_code: null, rest: null };
  const whole = findPlace(text);
  if (whole?.as === 'name' || whole?.as === 'abbreviation') return reading(whole.emirate);
  if (whole) {
    warnings.add(POINTER, 'emirate_from_city');
    return reading(whole.emirate, text);
  }
  return readParts(text, warnings) ?? readMisspelled(text, warnings);
}

function reading(emirate: Emirate, rest: string | null = null): EmirateReading {
  return { emirate: emirate.name, emirate_code: emirate.code, rest };
}

/** "Al Jimi, Al Ain" or "Deira - Dubai": those parts that name an emirate or a place in one have to agree. */
function readParts(text: string, warnings: WarningList): EmirateReading | undefined {
  const parts = splitParts(text)
    .filter((part) => !isCountry(toPlaceKey(part)))
    .map((part) => ({ part, place: findPlace(part) }));
  const [emirate, ...others] = new Set(parts.flatMap(({ place }) => place?.emirate ?? []));
  if (!emirate) return undefined;
  if (others.length > 0) return keep(text, 'emirate_ambiguous', warnings);
  const isNamed = (as?: string) => as === 'name' || as === 'abbreviation';
  const rest = parts.filter(({ place }) => !isNamed(place?.as)).map(({ part }) => part);
  if (rest.length === 0) return reading(emirate);
  warnings.add(POINTER, rest.length === parts.length ? 'emirate_from_city' : 'emirate_extracted');
  return reading(emirate, rest.join(', '));
}

function readMisspelled(text: string, warnings: WarningList): EmirateReading {
  if (isShared(text)) return keep(text, 'emirate_ambiguous', warnings);
  const emirate = mendEmirate(text);
  if (!emirate) return keep(text, 'emirate_unknown', warnings);
  warnings.add(POINTER, 'emirate_mended');
  return reading(emirate);
}

function keep(text: string, code: WarningCode, warnings: WarningList): EmirateReading {
  warnings.add(POINTER, code);
  return { emirate: text, emirate_code: null, rest: null };
}
