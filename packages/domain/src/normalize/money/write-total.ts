import Big from 'big.js';
import type { WarningList } from '../warnings.ts';
import type { Amount } from './amount.ts';
import { fractionDigitsOf } from './currency.ts';

const POINTER = '/total';
const MAX_WHOLE_DIGITS = 15;
const MAX_FRACTION_DIGITS = 6;

/**
 * The stored text of an amount in `currency`: plain decimals, at most 15 digits before the point and 6 behind it,
 * rounded half up. Null, with a warning, for a negative or larger amount. Zeros at the end are kept as sent as far as the
 * currency has decimals.
 */
export function writeTotal(amount: Amount, currency: string, warnings: WarningList): string | null {
  const whole = amount.whole.replace(/^0+(?=\d)/, '');
  const currencyDigits = fractionDigitsOf(currency) ?? MAX_FRACTION_DIGITS;
  const fraction = trimFraction(amount.fraction, currencyDigits);
  const refuse = (code: 'total_negative' | 'out_of_range') => {
    warnings.add(POINTER, code);
    return null;
  };
  if (amount.isNegative && /[1-9]/.test(whole + fraction)) return refuse('total_negative');
  const isRounded = fraction.length > MAX_FRACTION_DIGITS;
  const text = isRounded ? round(whole, fraction) : fraction === '' ? whole : `${whole}.${fraction}`;
  if (text.replace(/\..*/, '').length > MAX_WHOLE_DIGITS) return refuse('out_of_range');
  if (amount.isAmbiguous) warnings.add(POINTER, 'total_ambiguous');
  if (isRounded) warnings.add(POINTER, 'total_rounded');
  else if (fraction.length > currencyDigits) {
    warnings.add(POINTER, 'total_fraction', `More decimals than the ${currencyDigits} that ${currency} has`);
  }
  return text;
}

/**
 * Without the zeros that say nothing: 149.5000 dirhams, as some shops write, are 149.50. But 1.500 dirhams, which may be
 * meant as thousands, must not pass for 1.50.
 */
function trimFraction(fraction: string, currencyDigits: number): string {
  if (fraction.length === 3) return fraction;
  let end = fraction.length;
  // Not by a regular expression: /0+$/ takes quadratic time on long runs of zeros inside the text.
  while (end > currencyDigits && fraction[end - 1] === '0') end--;
  return fraction.slice(0, end);
}

/** Half up, so that the first digit too many decides and a fraction as long as the body costs nothing. */
function round(whole: string, fraction: string): string {
  const decisive = `${whole}.${fraction.slice(0, MAX_FRACTION_DIGITS + 1)}`;
  return new Big(decisive).round(MAX_FRACTION_DIGITS, Big.roundHalfUp).toFixed();
}
