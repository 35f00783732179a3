import currencyCodes from 'currency-codes';
import { CURRENCY_MARKS, SHARED_MARKS } from './currency-marks.ts';

const FRACTION_DIGITS: ReadonlyMap<string, number> = new Map([
  ...currencyCodes.data.map(({ code, digits }) => [code, digits] as const),
  // Newer than the list of 2024 that currency-codes 2.2.0 carries.
  ['XCG', 2],
]);

const MARKS: ReadonlyMap<string, readonly string[]> = new Map([
  ...Object.entries(SHARED_MARKS),
  ...Object.entries(CURRENCY_MARKS).flatMap(([code, marks]) => marks.map((mark) => [mark, [code]] as const)),
]);

/**
 * The ISO 4217 codes that a code in any case, a sign or a name may stand for: one for "aed", "Dhs.", "$" or "درهم",
 * several for "Rs", none for what is no currency.
 */
export function findCurrencies(mark: string): readonly string[] {
  const key = mark.toUpperCase();
  if (FRACTION_DIGITS.has(key)) return [key];
  const folded = foldMark(key);
  return FRACTION_DIGITS.has(folded) ? [folded] : (MARKS.get(folded) ?? []);
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
