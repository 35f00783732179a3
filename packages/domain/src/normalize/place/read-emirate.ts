import { LIMITS } from '../limits.ts';
import { readText } from '../text.ts';
import type { WarningCode, WarningList } from '../warnings.ts';
import type { Emirate } from './emirates.ts';
import { emiratesOf, isAbroad, isNeutral, type Part, readPart } from './find-mentions.ts';
import { findPlace, namesEmirate } from './find-place.ts';
import { mendEmirate } from './mend-emirate.ts';
import { toPlaceKey } from './place-key.ts';
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
  const key = toPlaceKey(text);
  const whole = findPlace(key) ?? findPlace(key.replace(/uae$/, ''));
  return whole?.emirate && namesEmirate(whole) ? toReading(whole.emirate, null) : readParts(text, warnings);
}

/** What forms send when nothing was chosen. */
const FILLERS = /^(?:na|none|null|others?|unknown|(?:please)?select(?:emirate|state|city)?)?$/;

/** Whether what was read is no emirate, not even an unknown one: absent, only the country, or a filler. */
export function saysNoEmirate({ emirate, emirate_code }: Omit<EmirateReading, 'rest'>): boolean {
  if (emirate_code !== null) return false;
  const key = toPlaceKey(emirate ?? '');
  return FILLERS.test(key) || findPlace(key)?.kind === 'country';
}

function toReading(emirate: Emirate, rest: string | null): EmirateReading {
  return { emirate: emirate.name, emirate_code: emirate.code, rest };
}

function keepAsSent(text: string, code: WarningCode, warnings: WarningList): EmirateReading {
  warnings.add(POINTER, code);
  return { emirate: text, emirate_code: null, rest: null };
}

/** "Al Jimi, Al Ain", "Deira - Dubai" or "JVC Dubai": whatever names an emirate or a place in one has to agree. */
function readParts(text: string, warnings: WarningList): EmirateReading {
  const parts = splitParts(text).map(readPart);
  if (parts.some(isAbroad)) return keepAsSent(text, 'emirate_unknown', warnings);
  const mentions = parts.flatMap((part) => part.mentions);
  const misspelled = parts.map(findMisspelled);
  const mended = misspelled.flatMap((reading) => reading?.emirate ?? []);
  const [emirate] = [...emiratesOf(mentions), ...mended];
  if (!emirate) {
    const isShared = mentions.some(({ place, isHere }) => place.kind === 'shared' && isHere);
    return keepAsSent(text, isShared ? 'emirate_ambiguous' : 'emirate_unknown', warnings);
  }
  const named = [...mended, ...mentions.flatMap(({ place }) => place.emirate ?? [])];
  if (named.some((other) => other !== emirate)) return keepAsSent(text, 'emirate_ambiguous', warnings);
  if (mended.length > 0) warnings.add(POINTER, 'emirate_mended');
  const rests = parts.map((part, index) => restOf(part, misspelled[index]?.words)).filter((rest) => rest !== '');
  if (rests.length === 0) return toReading(emirate, null);
  const isNamed = mended.length > 0 || mentions.some(({ place }) => namesEmirate(place));
  warnings.add(POINTER, isNamed ? 'emirate_extracted' : 'emirate_from_place');
  return toReading(emirate, rests.filter((rest) => !/^\d{4,}$/.test(rest)).join(', ') || null);
}

/** The words of a part that belong to no known place, if together they are the misspelled name of an emirate. */
function findMisspelled(part: Part): { emirate: Emirate; words: Part['words'] } | undefined {
  const words = part.words.filter((word) => !word.place && !isNeutral(word));
  const emirate = mendEmirate(words.map(({ key }) => key).join(''));
  return emirate && { emirate, words };
}

/** What of a part is neither the emirate itself nor the country. */
function restOf(part: Part, misspelled: Part['words'] = []): string {
  const isSaid = ({ place }: Part['words'][number]) => place && (namesEmirate(place) || place.kind === 'country');
  const rest = part.words.filter((word) => !isSaid(word) && !misspelled.includes(word));
  if (rest.every(isNeutral)) return '';
  return rest.length === part.words.length ? part.text : rest.map(({ text }) => text).join(' ');
}
