import type { Emirate } from './emirates.ts';
import { findPlace, type Place } from './find-place.ts';
import { toPlaceKey } from './place-key.ts';

/** A word of a part, and the known place whose name it belongs to. */
type Word = { text: string; key: string; place?: Place };

/** A known place among the words of a part. */
export type Mention = {
  place: Place;
  /** Whether it says where something is, unlike that of "Sharjah Street", "near Ajman" or "Bank of Dubai". */
  isHere: boolean;
  /** Whether nothing but numbers and the country stands behind it. */
  isAtEnd: boolean;
  /** Whether nothing else but these and words such as "Emirate of" stands before it either. */
  isWhole: boolean;
  isArabic: boolean;
};

/** A part of an address or of a place name, between two separators. */
export type Part = { text: string; words: readonly Word[]; mentions: readonly Mention[] };

const MAX_NAME_WORDS = 5;

const keysOf = (list: string): ReadonlySet<string> => new Set(list.split(' ').map(toPlaceKey));

/** What people put before or behind the name of an emirate, and what says nothing. */
const NEUTRAL = keysOf('the emirate emirates emirat of de city state province إمارة مدينة دولة');

/** A name behind one of these is not where something is, but what it is near to, on the way to, or all but. */
const LEADING_AWAY = keysOf(
  [
    'of to from for near nr nearby around opp opposite behind beside besides adj adjacent before after towards toward via by',
    'between next front outside heading direction dir way past exit border facing overlooking across leaving except',
    'excluding excl exclude but beyond than off non no without',
    'قرب بقرب بجانب جانب جنب بالقرب من مقابل خلف امام قبل بعد الى نحو باتجاه خارج غير ليس عدا الا دون',
  ].join(' '),
);

/** What is called after a place, in Arabic before its name. "Noor Al Ain" is a shop, and "Abu Dubai" may be Abu Dhabi. */
const CALLED_AFTER_BEFORE = keysOf(
  'noor nour ras wadi bab abu abou umm souk souq bank side شارع طريق بنك مصرف فندق برج بناية مستشفى مدرسة جامعة مطار سوق نادي مطعم جسر دوار حديقة',
);

/** Ways that are called after the place just before: "Sharjah Street", but not "Dubai Sheikh Zayed Road". */
const WAYS = keysOf('street st road rd highway hwy avenue ave border bridge roundabout');

/** Houses that are called after a place up to two words before: "Abu Dhabi Commercial Bank". */
const HOUSES = keysOf(
  'tower towers building bldg mall hotel bank hospital clinic school university college centre center club restaurant cafe cafeteria supermarket hypermarket market souk souq museum garden park exchange insurance trading llc coop store',
);

type Found = { place: Place; start: number; end: number };

/** Where known places are mentioned in a part, each word in the longest name it belongs to. */
export function readPart(text: string): Part {
  const words: Word[] = text
    .split(/[\s._–—-]+/)
    .map((word) => ({ text: word, key: toPlaceKey(word) }))
    .filter(({ key }) => key !== '');
  const found: Found[] = [];
  let start = 0;
  while (start < words.length) {
    const name = findName(words, start);
    if (name) {
      found.push(name);
      for (const word of words.slice(name.start, name.end)) word.place = name.place;
    }
    start = name?.end ?? start + 1;
  }
  return { text: text.trim(), words, mentions: describeAll(found, words) };
}

/** The longest known name that begins at `start`. */
function findName(words: readonly Word[], start: number): Found | undefined {
  for (let end = Math.min(start + MAX_NAME_WORDS, words.length); end > start; end--) {
    const place = findPlace(keyBetween(words, start, end));
    if (place && (end - start > 1 || isNameAlone(words, start, place))) return { place, start, end };
  }
  return undefined;
}

function keyBetween(words: readonly Word[], start: number, end: number): string {
  let key = '';
  for (let index = start; index < end; index++) key += words[index]?.key;
  return key;
}

/** "Rue Alain" is called after somebody; what looks like an abbreviation is one in capitals, or with nothing beside it. */
function isNameAlone(words: readonly Word[], index: number, place: Place): boolean {
  const { text, key } = words[index] as Word;
  const isFirstName = text === 'Alain';
  const isShort = place.kind === 'abbreviation' || (place.kind === 'foreign' && key.length === 2);
  if (!isShort && !isFirstName) return true;
  const saysNothing = (word: Word) => isNumber(word) || isNeutral(word) || findPlace(word.key)?.kind === 'country';
  const isAlone = words.every((word, other) => other === index || saysNothing(word));
  return isAlone || (isShort && key.length > 2 && text === text.toUpperCase());
}

function describeAll(found: readonly Found[], words: readonly Word[]): Mention[] {
  const isCountry = (word: Word) => word.place?.kind === 'country';
  const lastTelling = words.findLastIndex((word) => !isNeutral(word) && !isNumber(word) && !isCountry(word));
  const firstTelling = words.findIndex((word) => !isNeutral(word) && !isCountry(word));
  return found.map(({ place, start, end }, index) => {
    const behind = words.slice(end, Math.min(end + 3, found[index + 1]?.start ?? words.length));
    const isAtEnd = end > lastTelling;
    return {
      place,
      isHere: !leadsAway(words.slice(0, start)) && !isCalledAfter(behind),
      isAtEnd,
      isWhole: isAtEnd && (firstTelling < 0 || start <= firstTelling),
      isArabic: /\p{Script=Arabic}/u.test(words[start]?.text ?? ''),
    };
  });
}

/** A number, also one such as M-10 or W1, or a single letter. */
function isNumber({ key }: Word): boolean {
  return /\d/.test(key) || key.length === 1;
}

/** Whether the words behind a place name say that it is something called after it. */
function isCalledAfter(behind: readonly Word[]): boolean {
  if (WAYS.has(behind[0]?.key ?? '')) return true;
  const first = behind.find(({ key }) => HOUSES.has(key) || LEADING_AWAY.has(key));
  return first !== undefined && HOUSES.has(first.key);
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

/** Whether a word says nothing beside the name of an emirate. */
export function isNeutral(word: Word): boolean {
  return NEUTRAL.has(word.key);
}
