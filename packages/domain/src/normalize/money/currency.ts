import currencyCodes from 'currency-codes';
import { CODES_LIKE_WORDS, CURRENCY_MARKS } from './currency-marks.ts';

const FRACTION_DIGITS: ReadonlyMap<string, number> = new Map([
  ...currencyCodes.data.map(({ code, digits }) => [code, digits] as const),
  // In force since 2025, and so not in the list of 2024 that currency-codes 2.2.0 carries.
  ['XCG', 2],
]);

const MARKS: ReadonlyMap<string, readonly string[]> = new Map(
  CURRENCY_MARKS.flatMap(({ marks, currencies }) => marks.map((mark) => [foldMark(mark), currencies] as const)),
);

/**
 * The ISO 4217 codes that a code in any case, a sign or a name may stand for: one for "aed", "Dhs.", "$" or "درهم",
 * several for "Rs", none for what is no currency.
 */
export function findCurrencies(mark: string): readonly string[] {
  const folded = foldMark(mark);
  return FRACTION_DIGITS.has(folded) ? [folded] : (MARKS.get(folded) ?? []);
}

/** The same of a word beside an amount, which may be any word. */
export function findCurrenciesBeside(mark: string): readonly string[] {
  const found = findCurrencies(mark);
  const isWord = found.length === 1 && CODES_LIKE_WORDS.has(found[0] ?? '') && mark !== found[0];
  return isWord ? [] : found;
}

/** Without points, blanks, Arabic vowel signs and tatweel; "﷼" and "₨" as the words they abbreviate. */
function foldMark(mark: string): string {
  return mark
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[.\s\u0640\u064b-\u0652]/g, '')
    .replaceAll('ی', 'ي');
}

/** How many decimals amounts of a currency have; undefined for an unknown currency. */
export function fractionDigitsOf(currency: string): number | undefined {
  return FRACTION_DIGITS.get(currency);
}
