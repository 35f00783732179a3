import { locale } from '../locales/index.ts';

/** Joins names of people in the page's language. Each keeps its own direction (Unicode isolates). */
export function joinNames(names: readonly string[]): string {
  return new Intl.ListFormat(locale()).format(names.map((name) => `\u2068${name}\u2069`));
}
