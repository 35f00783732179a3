import type { Emirate } from './emirates.ts';
import { findPlace, type Place } from './find-place.ts';
import { toPlaceKey } from './place-key.ts';

type Word = { text: string; key: string };

/** A known place among the words of a part. */
export type Mention = {
  place: Place;
  /** Its first word and the one behind its last. */
  start: number;
  end: number;
  /** Whether it says where something is, unlike that of "Sharjah Street", "near Ajman" or "Bank of Dubai". */
  isHere: boolean;
  /** Whether nothing but numbers and the country stands behind it. */
  isAtEnd: boolean;
  /** Whether nothing else but these and words such as "Emirate of" stands before it either. */
  isWhole: boolean;
};

/** A part of an address or of a place name, between two separators. */
export type Part = { text: string; words: readonly Word[]; mentions: readonly Mention[] };

const MAX_NAME_WORDS = 5;

const keysOf = (list: string): ReadonlySet<string> => new Set(list.split(' ').map(toPlaceKey));

/** What people put before or behind the name of an emirate, and what says nothing. */
const NEUTRAL = keysOf('the emirate emirates emirat of de city state province إمارة مدينة دولة');

/** A name behind one of these is not where something is, but what it is near to or on the way to. */
const LEADING_AWAY = keysOf(
  'of to from for near nr nearby opp opposite behind beside besides before after towards toward via by between next front bank side not outside heading direction dir way past exit border facing across adjacent leaving except beyond than قرب بجانب بالقرب مقابل خلف امام قبل بعد الى نحو',
);

/** What is called after a place, in Arabic before its name. "Noor Al Ain" is a shop, and "Abu Dubai" may be Abu Dhabi. */
const CALLED_AFTER_BEFORE = keysOf(
  'noor nour ras wadi bab abu abou umm souk souq شارع طريق بنك مصرف فندق برج بناية مستشفى مدرسة جامعة مطار سوق نادي مطعم جسر دوار حديقة',
);

/** The same in English, behind it. */
const CALLED_AFTER_BEHIND = keysOf(
  'street st road rd highway hwy avenue ave border bridge roundabout tower towers building bldg mall hotel bank hospital clinic school university college centre center club restaurant cafe cafeteria supermarket hypermarket market souk souq museum garden park exchange insurance trading llc coop store',
);

type Found = Pick<Mention, 'place' | 'start' | 'end'>;

/** Where known places are mentioned in a part, each word in the longest name it belongs to. */
export function readPart(text: string): Part {
  const all = text
    .split(/[\s._–—-]+/)
    .map((word) => ({ text: word, key: toPlaceKey(word) }))
    .filter(({ key }) => key !== '');
  const found: Found[] = [];
  let start = 0;
  while (start < all.length) {
    const name = findName(all, start);
    if (name) found.push(name);
    start = name?.end ?? start + 1;
  }
  return { text: text.trim(), words: all, mentions: found.map((name) => describe(name, all, found)) };
}

function keyOf(all: readonly Word[], start: number, end: number): string {
  let key = '';
  for (let index = start; index < end; index++) key += all[index]?.key;
  return key;
}

/** The longest known name that begins at `start`. */
function findName(all: readonly Word[], start: number): Found | undefined {
  for (let end = Math.min(start + MAX_NAME_WORDS, all.length); end > start; end--) {
    const place = findPlace(keyOf(all, start, end));
    if (place && (end - start > 1 || isNameAlone(all, start, place))) return { place, start, end };
  }
  return undefined;
}

/** "Alain" is a first name, "Al Ain" a city; what looks like an abbreviation is one in capitals, or with nothing beside it. */
function isNameAlone(all: readonly Word[], index: number, place: Place): boolean {
  const { text, key } = all[index] as Word;
  if (key === 'alain') return false;
  const isShort = place.kind === 'abbreviation' || (place.kind === 'foreign' && key.length === 2);
  const isAlone = all.every((word, other) => other === index || isNumber(word) || isNeutral(word));
  return !isShort || isAlone || (key.length > 2 && text === text.toUpperCase());
}

function describe({ place, start, end }: Found, all: readonly Word[], found: readonly Found[]): Mention {
  const isCountry = (index: number) =>
    found.some((other) => other.place.kind === 'country' && index >= other.start && index < other.end);
  const saysNothing = (word: Word, index: number) => isNeutral(word) || isNumber(word) || isCountry(index);
  const isAtEnd = all.every((word, index) => index < end || saysNothing(word, index));
  const next = found.find((other) => other.start >= end)?.start ?? all.length;
  return {
    place,
    start,
    end,
    isHere: !leadsAway(all.slice(0, start)) && !isCalledAfter(all.slice(end, Math.min(end + 3, next))),
    isAtEnd,
    isWhole: isAtEnd && all.every((word, index) => index >= start || isNeutral(word) || isCountry(index)),
  };
}

/** A number, also one such as M-10 or W1, or a single letter. */
function isNumber({ key }: Word): boolean {
  return /\d/.test(key) || key.length === 1;
}

/** Whether the words behind a place name belong to it, as in "Sharjah Street" or "Abu Dhabi Commercial Bank". */
function isCalledAfter(behind: readonly Word[]): boolean {
  const first = behind.find(({ key }) => CALLED_AFTER_BEHIND.has(key) || LEADING_AWAY.has(key));
  return first !== undefined && CALLED_AFTER_BEHIND.has(first.key);
}

/** Whether the words before a name say that it is somewhere else. "Emirate of" does not, and articles are passed over. */
function leadsAway(before: readonly Word[]): boolean {
  const keys = before.map(({ key }) => key);
  if (keys.includes('not')) return true;
  while (keys.at(-1) === 'the' || keys.at(-1) === 'al') keys.pop();
  if (/^(?:of|de)$/.test(keys.at(-1) ?? '') && NEUTRAL.has(keys.at(-2) ?? '')) return false;
  return LEADING_AWAY.has(keys.at(-1) ?? '') || CALLED_AFTER_BEFORE.has(keys.at(-1) ?? '');
}

/** Whether a part names a place abroad, as a whole or at its end: "Oman Street" does not. */
export function isAbroad(part: Part): boolean {
  return part.mentions.some(({ place, isAtEnd, isHere }) => place.kind === 'foreign' && isAtEnd && isHere);
}

/** The emirates of the places that are mentioned, without those that something is only called after or near to. */
export function emiratesOf(mentions: readonly Mention[]): Emirate[] {
  return mentions.flatMap(({ place, isHere }) => (isHere && place.emirate) || []);
}

/** Whether words say nothing beside the name of an emirate. */
export function isNeutral(word: Word): boolean {
  return NEUTRAL.has(word.key);
}
