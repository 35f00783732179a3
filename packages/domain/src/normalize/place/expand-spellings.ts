import { toPlaceKey } from './place-key.ts';

/** The keys, as `toPlaceKey` makes them, of every spelling that some patterns stand for. */
export function keysOfSpellings(patterns: readonly string[]): string[] {
  return patterns.flatMap(expandSpellings).map(toPlaceKey);
}

/**
 * Every spelling that a pattern stands for. Alternatives are written as in a shell, one inside another if need be:
 * "D{i,e}b{,b}a" is "Diba", "Dibba", "Deba" and "Debba".
 */
export function expandSpellings(pattern: string): string[] {
  // Innermost braces first; the comma inside them separates, so no spelling may hold a comma.
  const [braces, alternatives] = /\{([^{}]*)\}/.exec(pattern) ?? [];
  if (braces === undefined || alternatives === undefined) return [pattern];
  const spellings = alternatives
    .split(',')
    .flatMap((alternative) => expandSpellings(pattern.replace(braces, alternative)));
  return [...new Set(spellings)];
}
