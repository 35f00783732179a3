import Big from 'big.js';
import type { WarningList } from '../warnings.ts';
import type { Amount } from './amount.ts';
import { fractionDigitsOf } from './currency.ts';

const MAX_WHOLE_DIGITS = 15;
const MAX_FRACTION_DIGITS = 6;

/**
 * The stored text of an amount in `currency`: plain decimals, at most 15 digits before the point and 6 behind it,
 * rounded half up. Null, with a warning, for a negative or larger amount. Zeros at the end are kept as sent while the
 * currency has that many decimals.
 */
export function writeTotal(amount: Amount, currency: string, pointer: string, warnings: WarningList): string | null {
  const whole = amount.whole.replace(/^0+(?=\d)/, '');
  const fraction = trimZeros(amount.fraction);
  const refuse = (code: 'total_negative' | 'out_of_range') => {
    warnings.add(pointer, code);
    return null;
  };
  if (amount.isNegative && (whole !== '0' || fraction !== '')) return refuse('total_negative');
  const isRounded = fraction.length > MAX_FRACTION_DIGITS;
  const rounded = isRounded ? round(whole, fraction) : undefined;
  if ((rounded ?? whole).replace(/\..*/, '').length > MAX_WHOLE_DIGITS) return refuse('out_of_range');
  if (amount.isAmbiguous) warnings.add(pointer, 'total_ambiguous');
  if (rounded !== undefined) {
    warnings.add(pointer, 'total_rounded');
    return rounded;
  }
  const currencyDigits = fractionDigitsOf(currency) ?? MAX_FRACTION_DIGITS;
  if (fraction.length > currencyDigits)
    warnings.add(pointer, 'total_fraction', fractionProblem(currency, currencyDigits));
  const digits = Math.max(fraction.length, Math.min(amount.fraction.length, currencyDigits));
  return digits === 0 ? whole : `${whole}.${amount.fraction.slice(0, digits)}`;
}

function fractionProblem(currency: string, digits: number): string {
  return `More decimals than ${currency} has, which is ${digits}`;
}

/** Half up, so that the first digit too many decides and a fraction as long as the body costs nothing. */
function round(whole: string, fraction: string): string {
  const decisive = `${whole}.${fraction.slice(0, MAX_FRACTION_DIGITS + 1)}`;
  return new Big(decisive).round(MAX_FRACTION_DIGITS, Big.roundHalfUp).toFixed();
}

/** Without a regular expression: /0+$/ takes quadratic time on long runs of zeros inside the text. */
function trimZeros(fraction: string): string {
  let end = fraction.length;
  while (fraction[end - 1] === '0') end--;
  return fraction.slice(0, end);
}
