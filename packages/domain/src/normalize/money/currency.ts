import currencyCodes from 'currency-codes';
import { CODES_LIKE_WORDS, CURRENCY_MARKS } from './currency-marks.ts';

const FRACTION_DIGITS: ReadonlyMap<string, number> = new Map([
  ...currencyCodes.data.map(({ code, digits }) => [code, digits] as const),
  // In force since 2025, and so not in the list of 2024 that currency-codes 2.2.0 carries.
  ['XCG', 2],
]);

/** The ISO 4217 codes that a mark agrees with, and the one that it names without any other hint, if it names one. */
export type CurrencyReading = { codes: readonly string[]; named: string | null };

const MARKS: ReadonlyMap<string, CurrencyReading> = new Map(
  CURRENCY_MARKS.flatMap(({ currencies, nameFirst, marks }) => {
    const reading = { codes: currencies, named: (nameFirst && currencies[0]) || null };
    return marks.map((mark) => [foldMark(mark), reading] as const);
  }),
);

/**
 * What a code in any case, a sign or a name stands for: "aed", "Dhs.", "درهم" for the dirham, "$" for the US dollar or,
 * where that is said, another one, "Rs" for one of several rupees. Undefined for what is no currency.
 */
export function readCurrencyMark(mark: string): CurrencyReading | undefined {
  const folded = foldMark(mark);
  return FRACTION_DIGITS.has(folded) ? { codes: [folded], named: folded } : MARKS.get(folded);
}

/** The same of a word beside an amount, which may be any word. */
export function readCurrencyBeside(mark: string): CurrencyReading | undefined {
  const isWord = CODES_LIKE_WORDS.has(mark.toUpperCase()) && mark !== mark.toUpperCase();
  return isWord ? undefined : readCurrencyMark(mark);
}

/** In upper case, without points, colons, blanks, Arabic vowel signs and tatweel; "﷼" and "₨" as the words they abbreviate. */
function foldMark(mark: string): string {
  return mark
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[.:\s\u0640\u064b-\u0652]/g, '')
    .replace(/[یى]/g, 'ي');
}

/** How many decimals amounts of a currency have; undefined for an unknown currency. */
export function fractionDigitsOf(currency: string): number | undefined {
  return FRACTION_DIGITS.get(currency);
}
