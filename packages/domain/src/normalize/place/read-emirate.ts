import { LIMITS } from '../../interface-limits.ts';
import { typingDistance } from '../../nearest-name.ts';
import { readText } from '../text.ts';
import type { WarningCode, WarningList } from '../warnings.ts';
import { TYPO_EXCEPTIONS } from './ambiguous-places.ts';
import { EMIRATES, type Emirate } from './emirates.ts';
import { emiratesOf, isAbroad, isNeutral, type Part, readPart } from './find-mentions.ts';
import { findPlace, namesEmirate } from './find-place.ts';
import { keysOfSpellings, toPlaceKey } from './spellings.ts';

const NAMES = EMIRATES.flatMap((emirate) =>
  [emirate.name, emirate.arabicName].map((name) => ({ emirate, key: withoutArticle(toPlaceKey(name)) })),
);
const EXCEPTIONS: ReadonlySet<string> = new Set(keysOfSpellings(TYPO_EXCEPTIONS));

/** The only emirate that a misspelled name, given by its key, is a small typo away from. */
export function correctEmirate(placeKey: string): Emirate | undefined {
  if (findPlace(placeKey) || EXCEPTIONS.has(placeKey) || /\d/.test(placeKey)) return undefined;
  const key = withoutArticle(placeKey);
  const [only, ...others] = new Set(NAMES.filter((name) => isNear(key, name.key)).map(({ emirate }) => emirate));
  return others.length === 0 ? only : undefined;
}

/** Sharjah and Fujairah are written with and without the article. */
function withoutArticle(key: string): string {
  return key.replace(/^(?:al|el|ash|ال)(?=(?:sh|f|ش|ف))/, '');
}

/** The first letter must be right: Buhairah is a place in Sharjah, and "Mubai" means Mumbai rather than Dubai. */
function isNear(key: string, name: string): boolean {
  const allowed = typosAllowed(name);
  if (Math.abs(key.length - name.length) > allowed || key[0] !== name[0]) return false;
  return typingDistance(key, name) <= allowed;
}

function typosAllowed(name: string): number {
  if (name.length < 4) return 0;
  return name.length < 10 ? 1 : 2;
}

/**
 * Commas of both scripts, colons, brackets, slashes, line breaks, "and", "or" (in Arabic also و before a name), and dashes next to a space;
 * not the hyphen of "Abu-Dhabi".
 */
const SEPARATORS = /[,،;؛:|/\\()[\]\n\t&]|\s[-–—]|[-–—]\s|\s(?:and|or|أو|او)\s|\sو(?=ال|دب|عجم|أب|اب|رأ|را|أم|ام)/i;

/** Splits an address or place name; parts may be empty. */
export function splitParts(text: string): string[] {
  return text.split(SEPARATORS);
}

const POINTER = '/emirate';

/** The emirate fields of an order; `rest` is other text that was given with it and fills an empty area. */
export type EmirateReading = {
  emirate: string | null;
  emirate_code: string | null;
  rest: string | null;
  /** Whether it is a text that names no place that we know, such as a code of a shop system. */
  isOpen?: true;
};

/**
 * Reads the emirate from its name, code or abbreviation without a warning; from a place in it, a longer text or a misspelled name with one.
 * Unknown or ambiguous text is kept as sent, without a code: no order is routed by a guess.
 */
export function readEmirate(value: unknown, warnings: WarningList): EmirateReading {
  const text = readText(value, POINTER, LIMITS.emirate, warnings);
  if (text === null) return { emirate: null, emirate_code: null, rest: null };
  const key = toPlaceKey(text);
  const whole = findPlace(key) ?? findPlace(key.replace(/uae$/, ''));
  return whole?.emirate && namesEmirate(whole) ? toReading(whole.emirate, null) : readParts(text, warnings);
}

/** Values that forms send if nothing was chosen. */
const FILLERS = /^(?:na|none|null|others?|unknown|(?:please)?select(?:emirate|state|city)?)?$/;

/** Whether the emirate is absent, only the country, or a filler. */
export function isEmirateMissing({ emirate, emirate_code }: Omit<EmirateReading, 'rest'>): boolean {
  if (emirate_code !== null) return false;
  const keys = (emirate ?? '').split(',').map(toPlaceKey);
  return keys.every((key) => FILLERS.test(key) || findPlace(key)?.kind === 'country');
}

function toReading(emirate: Emirate, rest: string | null): EmirateReading {
  return { emirate: emirate.name, emirate_code: emirate.code, rest };
}

function keepAsSent(text: string, code: WarningCode, warnings: WarningList): EmirateReading {
  warnings.add(POINTER, code);
  return { emirate: text, emirate_code: null, rest: null };
}

/** "Al Jimi, Al Ain", "Deira - Dubai" or "JVC Dubai": all emirates and places mentioned must agree. */
function readParts(text: string, warnings: WarningList): EmirateReading {
  const parts = splitParts(text).map(readPart);
  if (parts.some(isAbroad)) return keepAsSent(text, 'emirate_unknown', warnings);
  const mentions = parts.flatMap((part) => part.mentions);
  const misspelled = parts.map(findMisspelled);
  const corrected = misspelled.flatMap((reading) => reading?.emirate ?? []);
  const [emirate] = [...emiratesOf(mentions), ...corrected];
  if (!emirate) {
    const isShared = mentions.some(({ place, isLocation }) => place.kind === 'shared' && isLocation);
    if (isShared) return keepAsSent(text, 'emirate_ambiguous', warnings);
    return { ...keepAsSent(text, 'emirate_unknown', warnings), isOpen: true };
  }
  const named = [...corrected, ...mentions.flatMap(({ place }) => place.emirate ?? [])];
  if (named.some((other) => other !== emirate)) return keepAsSent(text, 'emirate_ambiguous', warnings);
  if (corrected.length > 0) warnings.add(POINTER, 'emirate_corrected');
  const rests = parts.map((part, index) => restOf(part, misspelled[index]?.words)).filter((rest) => rest !== '');
  if (rests.length === 0) return toReading(emirate, null);
  const isNamed = corrected.length > 0 || mentions.some(({ place }) => namesEmirate(place));
  warnings.add(POINTER, isNamed ? 'emirate_extracted' : 'emirate_from_place');
  return toReading(emirate, rests.filter((rest) => !/^\d{4,}$/.test(rest)).join(', ') || null);
}

/** The words of a part outside known places, if together they are the misspelled name of an emirate. */
function findMisspelled(part: Part): { emirate: Emirate; words: Part['words'] } | undefined {
  const words = part.words.filter((word) => !word.place && !isNeutral(word));
  const emirate = correctEmirate(words.map(({ key }) => key).join(''));
  return emirate && { emirate, words };
}

/** The text of a part without the emirate and the country. */
function restOf(part: Part, misspelled: Part['words'] = []): string {
  const isKnown = ({ place }: Part['words'][number]) => place && (namesEmirate(place) || place.kind === 'country');
  const rest = part.words.filter((word) => !isKnown(word) && !misspelled.includes(word));
  if (rest.every(isNeutral)) return '';
  return rest.length === part.words.length ? part.text : rest.map(({ text }) => text).join(' ');
}
