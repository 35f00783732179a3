import Big from 'big.js';
import type { WarningList } from '../warnings.ts';
import type { Amount } from './amount.ts';
import { fractionDigitsOf } from './currency.ts';

const POINTER = '/total';
const MAX_WHOLE_DIGITS = 15;
const MAX_FRACTION_DIGITS = 6;

/**
 * The stored text of an amount in `currency`: plain decimals, at most 15 digits before the point and 6 behind it,
 * rounded half up. Null, with a warning, for a negative or larger amount. Zeros at the end are kept as sent: 1.500 dirhams,
 * which may be meant as thousands, must not pass for 1.50.
 */
export function writeTotal(amount: Amount, currency: string, warnings: WarningList): string | null {
  const whole = amount.whole.replace(/^0+(?=\d)/, '');
  const { fraction } = amount;
  const refuse = (code: 'total_negative' | 'out_of_range') => {
    warnings.add(POINTER, code);
    return null;
  };
  if (amount.isNegative && /[1-9]/.test(whole + fraction)) return refuse('total_negative');
  const isRounded = fraction.length > MAX_FRACTION_DIGITS;
  const text = isRounded ? round(whole, fraction) : [whole, fraction].filter((part) => part !== '').join('.');
  if (text.replace(/\..*/, '').length > MAX_WHOLE_DIGITS) return refuse('out_of_range');
  if (amount.isAmbiguous) warnings.add(POINTER, 'total_ambiguous');
  const currencyDigits = fractionDigitsOf(currency) ?? MAX_FRACTION_DIGITS;
  if (isRounded) warnings.add(POINTER, 'total_rounded');
  else if (fraction.length > currencyDigits) {
    warnings.add(POINTER, 'total_fraction', `More decimals than the ${currencyDigits} that ${currency} has`);
  }
  return text;
}

/** Half up, so that the first digit too many decides and a fraction as long as the body costs nothing. */
function round(whole: string, fraction: string): string {
  const decisive = `${whole}.${fraction.slice(0, MAX_FRACTION_DIGITS + 1)}`;
  return new Big(decisive).round(MAX_FRACTION_DIGITS, Big.roundHalfUp).toFixed();
}
