import { toAsciiDigits } from '../digits.ts';

/** A number in scientific notation: its digits, or that they are not all there. */
export type ScientificReading = { digits: string } | 'rounded';

/**
 * Reads a whole number in scientific notation, as spreadsheets write long ones: "5.01234567E8" is 501234567, and of
 * "9.71501E+11" the last digits were rounded away. Undefined when the text is nothing of the kind.
 */
export function readScientific(text: string): ScientificReading | undefined {
  const [, first, rest = '', exponent] = /^\+?(\d)(?:[.,٫](\d+))?\s?e\+?(\d{1,2})$/i.exec(toAsciiDigits(text)) ?? [];
  if (first === undefined) return undefined;
  const digits = first + rest;
  const length = Number(exponent) + 1;
  if (digits.length < length) return 'rounded';
  return /^0*$/.test(digits.slice(length)) ? { digits: digits.slice(0, length) } : undefined;
}
