import { toPlaceKey } from './place-key.ts';

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
