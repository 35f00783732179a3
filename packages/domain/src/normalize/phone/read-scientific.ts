import { toAsciiDigits } from '../digits.ts';

/**
 * The digits of a whole number in scientific notation, as spreadsheets write long numbers: "5.01234567E8" is 501234567.
 * `null` when digits were rounded away ("9.71501E+11"), undefined when the text is nothing of the kind.
 */
export function readScientific(text: string): string | null | undefined {
  const [, first, rest = '', exponent] = /^\+?(\d)(?:[.,٫](\d+))?\s?e\+?(\d{1,2})$/i.exec(toAsciiDigits(text)) ?? [];
  if (first === undefined) return undefined;
  const digits = first + rest;
  const length = Number(exponent) + 1;
  if (digits.length < length) return null;
  return /^0*$/.test(digits.slice(length)) ? digits.slice(0, length) : undefined;
}
