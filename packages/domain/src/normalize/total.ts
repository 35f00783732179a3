import Big from 'big.js';
import { type Amount, readAmount } from './amount.ts';
import { fractionDigitsOf } from './currency.ts';
import { toDecimalText } from './decimal-text.ts';
import { cleanText } from './text.ts';
import type { WarningList } from './warnings.ts';

const POINTER = '/total';
const MAX_WHOLE_DIGITS = 15;
const MAX_FRACTION_DIGITS = 6;

/** Reads a total as it is written, number or text; null when absent or, with a warning, unreadable. */
export function readTotal(value: unknown, warnings: WarningList): Amount | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && !Number.isFinite(value)) {
    warnings.add(POINTER, 'out_of_range');
    return null;
  }
  const text = toText(value, warnings);
  if (text === '') return null;
  const amount = text === undefined ? null : readAmount(text);
  if (amount === null) warnings.add(POINTER, 'total_unreadable');
  return amount;
}

function toText(value: unknown, warnings: WarningList): string | undefined {
  if (typeof value === 'string') return cleanText(value, POINTER, warnings);
  return typeof value === 'number' ? toDecimalText(value) : undefined;
}

/**
 * The stored text of an amount in `currency`: plain decimals, at most 15 digits before the point and 6 behind it,
 * rounded half up. Null, with a warning, for a negative or larger amount. Zeros at the end are kept as sent while the
 * currency has that many decimals.
 */
export function writeTotal(amount: Amount, currency: string, warnings: WarningList): string | null {
  const whole = amount.whole.replace(/^0+(?=\d)/, '');
  const fraction = trimZeros(amount.fraction);
  if (amount.isNegative && (whole !== '0' || fraction !== '')) return refuse('total_negative', warnings);
  if (whole.length > MAX_WHOLE_DIGITS) return refuse('out_of_range', warnings);
  if (amount.isAmbiguous) warnings.add(POINTER, 'total_ambiguous');
  if (fraction.length > MAX_FRACTION_DIGITS) return round(whole, fraction, warnings);
  const currencyDigits = fractionDigitsOf(currency) ?? MAX_FRACTION_DIGITS;
  if (fraction.length > currencyDigits) warnings.add(POINTER, 'total_fraction');
  const digits = Math.max(fraction.length, Math.min(amount.fraction.length, currencyDigits));
  return digits === 0 ? whole : `${whole}.${amount.fraction.slice(0, digits)}`;
}

/** Half up, so that the first digit too many decides and a fraction as long as the body costs nothing. */
function round(whole: string, fraction: string, warnings: WarningList): string | null {
  const decisive = `${whole}.${fraction.slice(0, MAX_FRACTION_DIGITS + 1)}`;
  const rounded = new Big(decisive).round(MAX_FRACTION_DIGITS, Big.roundHalfUp);
  if (rounded.gte(`1e${MAX_WHOLE_DIGITS}`)) return refuse('out_of_range', warnings);
  warnings.add(POINTER, 'total_rounded');
  return rounded.toFixed();
}

/** Without a regular expression: /0+$/ takes quadratic time on long runs of zeros inside the text. */
function trimZeros(fraction: string): string {
  let end = fraction.length;
  while (fraction[end - 1] === '0') end--;
  return fraction.slice(0, end);
}

function refuse(code: 'total_negative' | 'out_of_range', warnings: WarningList): null {
  warnings.add(POINTER, code);
  return null;
}
