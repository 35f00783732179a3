/** Patterns of the English and the Arabic spellings of one or a few neighbouring places; `expandSpellings` has their form. */
export type PlaceNames = readonly [english: string] | readonly [english: string, arabic: string];

/** The `toPlaceKey` keys of all spellings of some patterns. */
export function keysOfSpellings(patterns: readonly string[]): string[] {
  return patterns.flatMap(expandSpellings).map(toPlaceKey);
}

/**
 * All spellings of a pattern with brace expansion as in a shell, which may be nested: "D{i,e}b{,b}a" is "Diba", "Dibba", "Deba" and
 * "Debba".
 */
export function expandSpellings(pattern: string): string[] {
  // Innermost braces first. Commas separate alternatives, so no spelling may contain one.
  const [braces, alternatives] = /\{([^{}]*)\}/.exec(pattern) ?? [];
  if (braces === undefined || alternatives === undefined) return [pattern];
  const spellings = alternatives
    .split(',')
    .flatMap((alternative) => expandSpellings(pattern.replace(braces, alternative)));
  return [...new Set(spellings)];
}

/**
 * Folds a place name to a lookup key: no case, spaces, punctuation, accents or Arabic vowel signs, and no hamza, and one form each of alif, ya,
 * kaf, ha and ta marbuta. The key of several words is the concatenation of their keys.
 */
export function toPlaceKey(text: string): string {
  // The same for English, in a third of the time.
  if (/^[\x20-\x7e]*$/.test(text)) return text.toLowerCase().replace(/[^a-z0-9]/g, '');
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]|\p{Lm}/gu, '')
    .replaceAll('ٱ', 'ا')
    .replaceAll('ء', '')
    .replace(/[ةہھۃ]/g, 'ه')
    .replace(/[ىیے]/g, 'ي')
    .replaceAll('ک', 'ك');
}
