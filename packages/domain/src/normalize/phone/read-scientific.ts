import { toAsciiDigits } from '../digits.ts';

/** The digits of a number in scientific notation, or `rounded` if some were lost. */
export type ScientificReading = { digits: string } | 'rounded';

/**
 * Reads an integer in scientific notation, as spreadsheets format long numbers: "5.01234567E8" is 501234567; "9.71501E+11" has lost its last
 * digits. Undefined for any other text.
 */
export function readScientific(text: string): ScientificReading | undefined {
  const [, first, rest = '', exponent] = /^\+?(\d)(?:[.,٫](\d+))?\s?e\+?(\d{1,2})$/i.exec(toAsciiDigits(text)) ?? [];
  if (first === undefined) return undefined;
  const digits = first + rest;
  const length = Number(exponent) + 1;
  if (digits.length < length) return 'rounded';
  return /^0*$/.test(digits.slice(length)) ? { digits: digits.slice(0, length) } : undefined;
}
