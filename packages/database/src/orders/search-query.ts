import { EMIRATE_CODES, toAsciiDigits } from '@orders/domain';

/** What a filter asks of `order_words` (migration 005); absent where it asks nothing. */
export interface WordFilter {
  channel: string | null;
  /** A code, or `none`. */
  emirate: string | null;
  warned: boolean | null;
}

/** A phone number that is written in groups. */
const PHONE = /(?<!\S)[+(]?\d[\d\s().+-]{5,}\d(?!\S)/g;
const MIN_PHONE_DIGITS = 4;
/** From so many digits on, a leading zero is the one that is dialled, and not of the number as it is stored. */
const MIN_DIALLED_DIGITS = 9;

/**
 * The words that somebody looks for as a `tsquery`: each is the beginning of a word of the order, or the end of its phone number.
 *
 * @param folded as `fold_words` returns it.
 * @returns null when there is no word in it.
 */
export function queryForWords(accountId: number, folded: string): string | null {
  const text = toAsciiDigits(folded);
  const queries: string[] = [];
  let at = 0;
  for (const { 0: run, index } of text.matchAll(PHONE)) {
    queries.push(...wordsOf(text.slice(at, index)).map((word) => queryForWord(accountId, word)));
    const apart = wordsOf(run).map((word) => queryForWord(accountId, word));
    queries.push(either([all(apart), phoneEnding(accountId, run)]));
    at = index + run.length;
  }
  queries.push(...wordsOf(text.slice(at)).map((word) => queryForWord(accountId, word)));
  return queries.length === 0 ? null : all(queries);
}

/** What the filters ask for as a `tsquery`, or null when they ask nothing. */
export function queryForFilter(accountId: number, { channel, emirate, warned }: WordFilter): string | null {
  if (channel === null && emirate === null && warned === null) return null;
  const channels = channel === null ? ['rest', 'webhook'] : [channel];
  const emirates = emirate === null ? [...EMIRATE_CODES, 'none'] : [emirate];
  const warnings = warned === null ? ['no', 'yes'] : [warned ? 'yes' : 'no'];
  const words = channels.flatMap((one) => emirates.flatMap((code) => warnings.map((sign) => `${one},${code},${sign}`)));
  return either(words.map((word) => lexeme(`${accountId}=${word}`)));
}

function queryForWord(accountId: number, word: string): string {
  const alternatives = [`${lexeme(`${accountId}:${word}`)}:*`];
  const parts = word.split(/[-_/#]/).filter((part) => part !== '');
  if (parts.length > 0 && parts[0] !== word) {
    const last = parts.length - 1;
    alternatives.push(
      all(parts.map((part, index) => `${lexeme(`${accountId}:${part}`)}${index === last ? ':*' : ''}`)),
    );
  }
  if (/^[+\d().-]+$/.test(word)) alternatives.push(phoneEnding(accountId, word));
  return either(alternatives);
}

function phoneEnding(accountId: number, text: string): string {
  const digits = text.replace(/\D/g, '');
  const stored = digits.length >= MIN_DIALLED_DIGITS ? digits.replace(/^0{1,2}/, '') : digits;
  if (stored.length < MIN_PHONE_DIGITS) return '';
  return `${lexeme(`${accountId}~${[...stored].toReversed().join('')}`)}:*`;
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
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
