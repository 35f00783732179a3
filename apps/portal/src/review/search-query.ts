import { EMIRATE_CODES } from '@orders/domain/normalize/place/emirates.ts';
import { SEVERITIES, type Severity } from '@orders/domain/severity.ts';

/** The other conditions of a filter that the search index (`order_words`) helps with; null matches all. */
export interface Facets {
  channel: string | null;
  /** A code, or `none`. */
  emirate: string | null;
  severity: Severity | null;
  source: number | null;
  /** One of `MARKS`. */
  mark: string | null;
}

/** A phone number, possibly in groups. */
const PHONE = /(?<!\S)\+?\d[\d\s.+-]{5,}\d(?!\S)/g;
const MIN_PHONE_DIGITS = 4;
/** In a number with at least this many digits, leading zeros are a dialling prefix, which is not stored. */
const MIN_DIALLED_DIGITS = 9;

/**
 * The `tsquery` for search terms: each is a prefix of a word of the order, or the end of its phone number.
 *
 * @param folded result of `without_articles(fold_letters())`.
 * @returns null when it contains no word.
 */
export function queryForSearchTerms(accountId: number, folded: string): string | null {
  const queries: string[] = [];
  let at = 0;
  for (const { 0: run, index } of folded.matchAll(PHONE)) {
    const end = index + run.length;
    queries.push(...queriesIn(accountId, folded.slice(at, index)));
    queries.push(either([all(queriesIn(accountId, folded.slice(index, end))), phoneEnding(accountId, run)]));
    at = end;
  }
  queries.push(...queriesIn(accountId, folded.slice(at)));
  return queries.length === 0 ? null : all(queries);
}

/** The `tsquery` for the other conditions, or null when there are none. */
export function queryForFacets(accountId: number, facets: Facets): string | null {
  const { channel, emirate, severity, source, mark } = facets;
  const own = [source, mark].flatMap((value) => (value === null ? [] : [lexeme(`${accountId}=${value}`)]));
  if (channel === null && emirate === null && severity === null) return own.length === 0 ? null : all(own);
  const channels = channel === null ? ['rest', 'webhook'] : [channel];
  const emirates = emirate === null ? [...EMIRATE_CODES, 'none'] : [emirate];
  const severities = severity === null ? SEVERITIES : [severity];
  const words = channels.flatMap((name) => emirates.flatMap((code) => severities.map((it) => `${name},${code},${it}`)));
  return all([...own, either(words.map((word) => lexeme(`${accountId}=${word}`)))]);
}

function queriesIn(accountId: number, text: string): string[] {
  const words = text.split(/\s+/).filter((word) => /[^-_/#@:]/.test(word));
  return words.map((word) => queryForWord(accountId, word));
}

function queryForWord(accountId: number, word: string): string {
  const beginning = (text: string) => `${lexeme(`${accountId}:${text}`)}:*`;
  // Split as `parts_of` does; `without_articles` knew only the first part.
  const split = word.split(/[-_/#@:]/).map((part, index) => (index === 0 ? part : part.replace(/^ال/, '')));
  const parts = split.filter((part) => part !== '');
  const last = parts.pop() ?? '';
  // The parts of an id mean little each: A-12 is not an order with A in one field and 12 in another.
  const isWhole = parts.length > 0 && /\d/.test(word);
  return either([
    beginning(word),
    isWhole || last === word ? '' : all([...parts.map((part) => lexeme(`${accountId}:${part}`)), beginning(last)]),
    /^[+\d.-]+$/.test(word) ? phoneEnding(accountId, word) : '',
  ]);
}

function phoneEnding(accountId: number, text: string): string {
  const digits = text.replace(/\D/g, '');
  const stored = digits.length >= MIN_DIALLED_DIGITS ? digits.replace(/^0{1,2}/, '') : digits;
  if (stored.length < MIN_PHONE_DIGITS) return '';
  return `${lexeme(`${accountId}~${[...stored].toReversed().join('')}`)}:*`;
}

/** The `tsquery` for orders with one of these phone numbers in E.164; their extensions are not indexed. */
export function queryForPhones(accountId: number, phones: readonly string[]): string {
  const words = phones.map((phone) => [...phone.replace(/ ext.*/, '').slice(1)].toReversed().join(''));
  return either([...new Set(words)].map((word) => lexeme(`${accountId}~${word}`)));
}

function lexeme(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

function all(queries: readonly string[]): string {
  return `(${queries.filter((query) => query !== '').join(' & ')})`;
}

function either(queries: readonly string[]): string {
  return `(${queries.filter((query) => query !== '').join(' | ')})`;
}
