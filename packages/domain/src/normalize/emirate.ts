import { EMIRATES, type Emirate, NO_TYPOS } from './emirate-names.ts';
import { LIMITS } from './limits.ts';
import { isOneTypoApart } from './one-typo-apart.ts';
import { removeSurroundings, toPlaceKey } from './place-key.ts';
import { readText } from './text.ts';
import type { WarningList } from './warnings.ts';

const POINTER = '/emirate';

/** A single typo in a shorter text may turn any place into any other. */
const MIN_TYPO_LENGTH = 4;

const BY_NAME = index((emirate) => [...emirate.spellings, ...emirate.abbreviations]);
const BY_CITY = index((emirate) => emirate.cities);
const SPELLINGS = [...index((emirate) => emirate.spellings)];
const NEVER_MENDED: ReadonlySet<string> = new Set(NO_TYPOS.map(toPlaceKey));

/** The emirate fields of an order; `city` is what was given in place of an emirate and belongs into an empty area. */
export type EmirateReading = { emirate: string | null; emirate_code: string | null; city: string | null };

/** Reads the emirate from its name, code or abbreviation, or from a city of it; text that is none of these is kept. */
export function readEmirate(value: unknown, warnings: WarningList): EmirateReading {
  const text = readText(value, POINTER, LIMITS.emirate, warnings);
  if (text === null) return { emirate: null, emirate_code: null, city: null };
  const key = toPlaceKey(text);
  return lookUp(key, text, warnings) ?? lookUp(removeSurroundings(key), text, warnings) ?? mend(key, text, warnings);
}

function lookUp(key: string, text: string, warnings: WarningList): EmirateReading | undefined {
  const named = BY_NAME.get(key);
  if (named) return { emirate: named.name, emirate_code: named.code, city: null };
  const around = BY_CITY.get(key);
  if (!around) return undefined;
  warnings.add(POINTER, 'emirate_from_city');
  return { emirate: around.name, emirate_code: around.code, city: text };
}

function mend(key: string, text: string, warnings: WarningList): EmirateReading {
  const emirate = findSimilar(removeSurroundings(key));
  warnings.add(POINTER, emirate ? 'emirate_mended' : 'emirate_unknown');
  return { emirate: emirate?.name ?? text, emirate_code: emirate?.code ?? null, city: null };
}

/** The emirate with a spelling one typo away, if it is the only one. */
function findSimilar(key: string): Emirate | undefined {
  if (key.length < MIN_TYPO_LENGTH || NEVER_MENDED.has(key)) return undefined;
  const similar = new Set<Emirate>();
  for (const [spelling, emirate] of SPELLINGS) {
    if (spelling.length >= MIN_TYPO_LENGTH && isOneTypoApart(key, spelling)) similar.add(emirate);
  }
  const [only] = similar;
  return similar.size === 1 ? only : undefined;
}

function index(namesOf: (emirate: Emirate) => readonly string[]): ReadonlyMap<string, Emirate> {
  return new Map(EMIRATES.flatMap((emirate) => namesOf(emirate).map((name) => [toPlaceKey(name), emirate] as const)));
}
