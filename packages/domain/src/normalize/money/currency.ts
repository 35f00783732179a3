import currencyCodes from 'currency-codes';
import { CODES_LIKE_WORDS, CURRENCY_MARKS } from './currency-marks.ts';

const FRACTION_DIGITS: ReadonlyMap<string, number> = new Map([
  ...currencyCodes.data.map(({ code, digits }) => [code, digits] as const),
  // Introduced in 2025; currency-codes 2.2.0 has the list of 2024.
  ['XCG', 2],
]);

/** The ISO 4217 codes that a mark agrees with, and the one that it means without another hint, if any. */
export type CurrencyReading = { codes: readonly string[]; named: string | null };

const MARKS: ReadonlyMap<string, CurrencyReading> = new Map(
  CURRENCY_MARKS.flatMap(({ currencies, nameFirst, marks }) => {
    const reading = { codes: currencies, named: (nameFirst && currencies[0]) || null };
    return marks.map((mark) => [foldMark(mark), reading] as const);
  }),
);

/**
 * Reads a code in any case, a sign or a name: "aed", "Dhs." and "درهم" mean the dirham, "$" the US dollar unless another mark says
 * otherwise, "Rs" one of several rupees. Undefined if it is not a currency.
 */
export function readCurrencyMark(mark: string): CurrencyReading | undefined {
  const folded = foldMark(mark);
  return FRACTION_DIGITS.has(folded) ? { codes: [folded], named: folded } : MARKS.get(folded);
}

/** The same for a word beside an amount, which may be an ordinary word. */
export function readCurrencyBeside(mark: string): CurrencyReading | undefined {
  const isWord = CODES_LIKE_WORDS.has(mark.toUpperCase()) && mark !== mark.toUpperCase();
  return isWord ? undefined : readCurrencyMark(mark);
}

/** Upper case, without dots, colons, spaces, Arabic vowel signs and tatweel; "﷼" and "₨" become the words they abbreviate. */
function foldMark(mark: string): string {
  return mark
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[.:\s\u0640\u064b-\u0652]/g, '')
    .replace(/[یى]/g, 'ي');
}

/** The number of decimals of a currency; undefined for an unknown one. */
export function fractionDigitsOf(currency: string): number | undefined {
  return FRACTION_DIGITS.get(currency);
}
