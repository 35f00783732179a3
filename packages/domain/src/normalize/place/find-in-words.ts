import type { Emirate } from './emirates.ts';
import { findPlace } from './find-place.ts';

const MAX_NAME_WORDS = 4;

/** "Bank of Sharjah", "the road to Dubai", "near Ajman": a name behind one of these is not where something is. */
const PREPOSITIONS =
  'of to from for near nr nearby opp opposite behind beside besides before after towards toward via by between next bank side not outside heading direction dir way past exit border facing across adjacent leaving except beyond than';

/** Al Ain is also the eye or the spring: Noor Al Ain is a shop, Ras Al Ain elsewhere. "Abu Dubai" may be Abu Dhabi. */
const PARTS_OF_NAMES = 'noor nour ras wadi bab abu abou umm';

const LEADING_AWAY: ReadonlySet<string> = new Set(`${PREPOSITIONS} ${PARTS_OF_NAMES}`.split(' '));

/** A name at the end of a text, and the words before it. */
export type Ending = { emirate: Emirate; before: string };

/**
 * The emirate that a text of several words ends with, as "Flat 5 Rose Tower Dubai" does: by its name or a city of two
 * words, for "Alain" alone is a first name. Not behind a word that leads away, and not if the words before name another.
 */
export function findAtEnd(text: string): Ending | undefined {
  const words = wordsOf(text);
  for (let count = Math.min(MAX_NAME_WORDS, words.length - 1); count > 0; count--) {
    const emirate = emirateOf(words.slice(-count));
    if (!emirate) continue;
    const before = words.slice(0, -count);
    const lastWord = before.at(-1)?.toLowerCase().replace(/[.:]$/, '') ?? '';
    const isElsewhere = LEADING_AWAY.has(lastWord) || before.some((word) => word.toLowerCase() === 'not');
    const others = [...findAnywhere(before.join(' '))].filter((other) => other !== emirate);
    return isElsewhere || others.length > 0 ? undefined : { emirate, before: before.join(' ') };
  }
  return undefined;
}

/** Every emirate that some words of a text name, be it as the name of a street. */
export function findAnywhere(text: string): Set<Emirate> {
  const words = wordsOf(text);
  const found = new Set<Emirate>();
  for (let start = 0; start < words.length; start++) {
    for (let count = MAX_NAME_WORDS; count > 0; count--) {
      const emirate = start + count <= words.length ? emirateOf(words.slice(start, start + count)) : undefined;
      if (emirate) {
        found.add(emirate);
        break;
      }
    }
  }
  return found;
}

function wordsOf(text: string): string[] {
  return text.split(/[\s–—-]+/).filter((word) => word !== '');
}

function emirateOf(words: readonly string[]): Emirate | undefined {
  const place = findPlace(words.join(' '));
  const isClear = place?.kind === 'name' || (place?.kind === 'city' && words.length > 1);
  return isClear ? place?.emirate : undefined;
}
