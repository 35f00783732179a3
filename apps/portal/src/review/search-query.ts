import { EMIRATE_CODES } from '@orders/domain/normalize/place/emirates.ts';
import { toAsciiDigits } from '@orders/domain/normalize/text.ts';
import type { Severity } from '@orders/domain/severity.ts';

/** The other conditions of a filter that the search index (`order_words`) helps with; null matches all. */
export interface Facets {
  channel: string | null;
  /** A code, or `none`. */
  emirate: string | null;
  severity: Severity | null;
}

/** A phone number, possibly in groups. */
const PHONE = /(?<!\S)[+(]?\d[\d\s().+-]{5,}\d(?!\S)/g;
const MIN_PHONE_DIGITS = 4;
/** In a number with at least this many digits, leading zeros are a dialling prefix, which is not stored. */
const MIN_DIALLED_DIGITS = 9;

/**
 * The `tsquery` for search terms: each is a prefix of a word of the order, or the end of its phone number.
 *
 * @param folded result of `fold_words`.
 * @returns null when it contains no word.
 */
export function queryForSearchTerms(accountId: number, folded: string): string | null {
  const queries: string[] = [];
  let at = 0;
  // A digit of any script is one character, so indexes are the same in both strings.
  for (const { 0: run, index } of toAsciiDigits(folded).matchAll(PHONE)) {
    const end = index + run.length;
    queries.push(...queriesIn(accountId, folded.slice(at, index)));
    queries.push(either([all(queriesIn(accountId, folded.slice(index, end))), phoneEnding(accountId, run)]));
    at = end;
  }
  queries.push(...queriesIn(accountId, folded.slice(at)));
  return queries.length === 0 ? null : all(queries);
}

/** Whether orders of this severity have warnings; null if some have and some have not. */
const WARNED: Record<Severity, 'yes' | 'no' | null> = { blocks: null, check: 'yes', corrected: 'yes', none: 'no' };

/**
 * The `tsquery` for the other conditions, or null when there are none. The index contains only whether an order has warnings, so it also
 * matches orders of other severities.
 */
export function queryForFacets(accountId: number, { channel, emirate, severity }: Facets): string | null {
  const warned = severity && WARNED[severity];
  if (channel === null && emirate === null && warned === null) return null;
  const channels = channel === null ? ['rest', 'webhook'] : [channel];
  const emirates = emirate === null ? [...EMIRATE_CODES, 'none'] : [emirate];
  const warnings = warned === null ? ['no', 'yes'] : [warned];
  const words = channels.flatMap((name) =>
    emirates.flatMap((code) => warnings.map((sign) => `${name},${code},${sign}`)),
  );
  return either(words.map((word) => lexeme(`${accountId}=${word}`)));
}

function queriesIn(accountId: number, text: string): string[] {
  const words = text.split(/\s+/).map((word) => ({ word, parts: partsOf(word) }));
  return words.flatMap(({ word, parts }) => (parts.length > 0 ? [queryForWord(accountId, word, parts)] : []));
}

/** Splits a word as `id_words` does, without articles as `fold_words` does. */
function partsOf(word: string): string[] {
  const parts = word.split(/[-_/#]/).map((part, index) => (index === 0 ? part : part.replace(/^ال/, '')));
  return parts.filter((part) => part !== '');
}

/** @param parts of the word. */
function queryForWord(accountId: number, word: string, parts: readonly string[]): string {
  const beginning = (text: string) => `${lexeme(`${accountId}:${text}`)}:*`;
  const digits = toAsciiDigits(word);
  return either([
    beginning(word),
    parts[0] === word
      ? ''
      : all(parts.map((part, index) => (index < parts.length - 1 ? lexeme(`${accountId}:${part}`) : beginning(part)))),
    digits === word ? '' : beginning(digits),
    /^[+\d().-]+$/.test(digits) ? phoneEnding(accountId, digits) : '',
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
