import type { Emirate } from './emirates.ts';
import { findPlace, type Place } from './find-place.ts';
import { toPlaceKey } from './spellings.ts';

/** A word of a part, and the known place whose name contains it. */
type Word = { text: string; key: string; place?: Place };

/** A known place among the words of a part. */
export type Mention = {
  place: Place;
  /** Whether it is the location itself, unlike in "Sharjah Street", "near Ajman" or "Bank of Dubai". */
  isLocation: boolean;
  /** Whether only numbers and the country follow it. */
  isAtEnd: boolean;
  /** Whether also only these and words such as "Emirate of" precede it. */
  isWhole: boolean;
  isArabic: boolean;
};

/** A part of an address or place name between two separators. */
export type Part = { text: string; words: readonly Word[]; mentions: readonly Mention[] };

const MAX_NAME_WORDS = 5;

const keysOf = (list: string): ReadonlySet<string> => new Set(list.split(' ').map(toPlaceKey));

/** Words around the name of an emirate or a place that carry no information. */
const NEUTRAL = keysOf(
  'the emirate emirates emirat of de city state province region municipality area district community إمارة مدينة دولة بلدية منطقة حي',
);

/** Words after the name of a place that say which part of it, as numbers do: "Al Barsha First", "Hor Al Anz East". */
const SECTION = keysOf(
  [
    'first second third fourth fifth sixth north south east west phase ph sector block zone industrial',
    'الأولى الثانية الثالثة الرابعة الخامسة السادسة الأول الثاني الثالث شمال جنوب شرق غرب المرحلة الصناعية',
  ].join(' '),
);

/** A name after one of these is not the location, but something near it, on the way to it, or excluded. */
const ELSEWHERE_WORDS = keysOf(
  [
    'of to from for near nr nearby around opp opposite behind beside besides adj adjacent before after towards toward via by',
    'between next front outside heading direction dir way past exit border facing overlooking across leaving except',
    'excluding excl exclude but beyond than off non no without',
    'قرب بقرب بجانب جانب جنب بالقرب من مقابل خلف امام قبل بعد الى نحو باتجاه خارج غير ليس عدا الا دون',
  ].join(' '),
);

/** Of these, the ones that begin a landmark beside the address. */
const LANDMARK_WORDS = keysOf(
  'near nr nearby opp opposite behind beside besides adj adjacent next facing قرب بقرب بجانب جانب مقابل خلف امام',
);

/** Words before a place name in names of other things, as usual in Arabic. "Noor Al Ain" is a shop; "Abu Dubai" may be Abu Dhabi. */
const NAMED_AFTER_PREFIXES = keysOf(
  [
    'noor nour ras wadi bab abu abou umm souk souq bank side sheikh shaikh burj masjid qasr khor nad seih jebel jabal',
    'jazeerat tareeq dar bait beit hor wahat marsa شارع طريق بنك مصرف فندق برج بناية مستشفى مدرسة جامعة مطار سوق نادي مطعم جسر دوار حديقة الشيخ شيخ مسجد',
    'قصر وادي خور سيح جبل ند أبو أم',
  ].join(' '),
);

/** Roads named after the place directly before: "Sharjah Street", but not "Dubai Sheikh Zayed Road". */
const ROAD_WORDS = keysOf('street st road rd highway hwy avenue ave border bridge roundabout square metro station');

/** Buildings and businesses named after a place up to two words before: "Abu Dhabi Commercial Bank". */
const BUILDING_WORDS = keysOf(
  'tower towers building bldg mall hotel bank hospital clinic school university college centre center club restaurant cafe cafeteria supermarket hypermarket market souk souq museum garden park exchange insurance trading llc coop store',
);

type Found = { place: Place; start: number; end: number };

/** Finds the known places in a part; each word belongs to the longest name that contains it. */
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
  return { text: text.trim(), words, mentions: describeMentions(found, words) };
}

/** The longest known name that begins at `start`. */
function findName(words: readonly Word[], start: number): Found | undefined {
  for (let end = Math.min(start + MAX_NAME_WORDS, words.length); end > start; end--) {
    const place = findPlace(keyBetween(words, start, end));
    if (place && (end - start > 1 || isUnambiguousName(words, start, place))) return { place, start, end };
  }
  return undefined;
}

function keyBetween(words: readonly Word[], start: number, end: number): string {
  let key = '';
  for (let index = start; index < end; index++) key += words[index]?.key;
  return key;
}

/** "Rue Alain" is named after a person. An abbreviation counts only in capitals or without other words beside it. */
function isUnambiguousName(words: readonly Word[], index: number, place: Place): boolean {
  const { text, key } = words[index] as Word;
  const isFirstName = text === 'Alain';
  const isShort = place.kind === 'abbreviation' || (place.kind === 'foreign' && key.length === 2);
  if (!isShort && !isFirstName) return true;
  const isUninformative = (word: Word) => isNumber(word) || isNeutral(word) || findPlace(word.key)?.kind === 'country';
  const isAlone = words.every((word, other) => other === index || isUninformative(word));
  return isAlone || (isShort && key.length > 2 && text === text.toUpperCase());
}

function describeMentions(found: readonly Found[], words: readonly Word[]): Mention[] {
  const isCountry = (word: Word) => word.place?.kind === 'country';
  const lastSignificant = words.findLastIndex(
    (word) => !isNeutral(word) && !isNumber(word) && !isSection(word) && !isCountry(word),
  );
  const firstSignificant = words.findIndex((word) => !isNeutral(word) && !isCountry(word));
  return found.map(({ place, start, end }, index) => {
    const after = words.slice(end, Math.min(end + 3, found[index + 1]?.start ?? words.length));
    const isAtEnd = end > lastSignificant;
    const isWhole = isAtEnd && (firstSignificant < 0 || start <= firstSignificant);
    const isPersonal = place.kind === 'within' && place.isPersonal;
    return {
      place,
      isLocation: !refersElsewhere(words.slice(0, start)) && !isNamedAfterPlace(after) && (isWhole || !isPersonal),
      isAtEnd,
      isWhole,
      isArabic: /\p{Script=Arabic}/u.test(words[start]?.text ?? ''),
    };
  });
}

/** A word such as "North", unless it belongs to a known name: the "Industrial" of "Industrial Area". */
function isSection({ key, place }: Word): boolean {
  return SECTION.has(key) && !place;
}

/** A number, a code such as M-10 or W1, or a single letter. */
function isNumber({ key }: Word): boolean {
  return /\d/.test(key) || key.length === 1;
}

/** Whether the words after a place name show that it is part of another name. */
function isNamedAfterPlace(after: readonly Word[]): boolean {
  if (ROAD_WORDS.has(after[0]?.key ?? '')) return true;
  const first = after.find(({ key }) => BUILDING_WORDS.has(key) || ELSEWHERE_WORDS.has(key));
  return first !== undefined && BUILDING_WORDS.has(first.key);
}

/** Whether the words before a name show that the location is elsewhere. "Emirate of" does not; articles are skipped. */
function refersElsewhere(before: readonly Word[]): boolean {
  const keys = before.map(({ key }) => key);
  if (keys.includes('not')) return true;
  while (keys.at(-1) === 'the' || keys.at(-1) === 'al') keys.pop();
  if (/^(?:of|de)$/.test(keys.at(-1) ?? '') && NEUTRAL.has(keys.at(-2) ?? '')) return false;
  return ELSEWHERE_WORDS.has(keys.at(-1) ?? '') || NAMED_AFTER_PREFIXES.has(keys.at(-1) ?? '');
}

/** Whether a part is or ends with a place abroad; "Oman Street" does not. */
export function isAbroad(part: Part): boolean {
  return part.mentions.some(({ place, isAtEnd, isLocation }) => place.kind === 'foreign' && isAtEnd && isLocation);
}

/** The emirates of the mentioned places that are locations. */
export function emiratesOf(mentions: readonly Mention[]): Emirate[] {
  return mentions.flatMap(({ place, isLocation }) => (isLocation && place.emirate) || []);
}

/** Whether a part only says what is nearby: "near Ajman Bank", "behind the mosque". */
export function isLandmark({ words: [first] }: Part): boolean {
  return first !== undefined && LANDMARK_WORDS.has(first.key);
}

export function isNeutral(word: Word): boolean {
  return NEUTRAL.has(word.key);
}
