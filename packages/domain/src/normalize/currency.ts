import currencyCodes from 'currency-codes';
import { CURRENCY_MARKS } from './currency-marks.ts';
import { LIMITS } from './limits.ts';
import { readText } from './text.ts';
import type { WarningList } from './warnings.ts';

const POINTER = '/currency';
const DEFAULT_CURRENCY = 'AED';

const FRACTION_DIGITS: ReadonlyMap<string, number> = new Map([
  ...currencyCodes.data.map(({ code, digits }) => [code, digits] as const),
  // In force since 2025, and so not in the list of 2024 that currency-codes 2.2.0 carries.
  ['XCG', 2],
]);
const MARKS: ReadonlyMap<string, string> = new Map(Object.entries(CURRENCY_MARKS));

/** Reads the currency, given the one that is written in the total, if any. Absent in both, it is the dirham. */
export function readCurrency(value: unknown, inTotal: string | null, warnings: WarningList): string {
  const text = readText(value, POINTER, LIMITS.currency, warnings);
  if (text === null) return inTotal ?? DEFAULT_CURRENCY;
  const code = findCurrency(text);
  if (code === undefined) warnings.add(POINTER, 'currency_unknown');
  if (inTotal !== null && inTotal !== code) warnings.add(POINTER, 'currency_conflict');
  return code ?? text;
}

/** The ISO 4217 code that a code in any case, a sign or a name stands for: "aed", "Dhs.", "$", "درهم". */
export function findCurrency(mark: string): string | undefined {
  const key = mark.toUpperCase();
  if (FRACTION_DIGITS.has(key)) return key;
  const bare = key.replace(/[.\s]/g, '');
  return FRACTION_DIGITS.has(bare) ? bare : MARKS.get(bare);
}

/** How many decimals amounts of a currency have; undefined for an unknown currency. */
export function fractionDigitsOf(currency: string): number | undefined {
  return FRACTION_DIGITS.get(currency);
}
