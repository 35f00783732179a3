import Big from 'big.js';
import { LIMITS } from '../../interface-limits.ts';
import { isJsonObject, type JsonObject } from '../json-object.ts';
import { cleanText, readText, toDecimalText } from '../text.ts';
import type { WarningList } from '../warnings.ts';
import { type Amount, readAmount } from './amount.ts';
import { fractionDigitsOf, readCurrencyMark } from './currency.ts';

const POINTER = '/total';
const MAX_WHOLE_DIGITS = 15;
const MAX_FRACTION_DIGITS = 6;

/**
 * Formats an amount in `currency` for storage: a plain decimal string with at most 15 integer and 6 fraction digits, rounded half up. Null,
 * with a warning, for a negative or larger amount. Trailing zeros are kept up to the decimals of the currency.
 */
function writeTotal(amount: Amount, currency: string, warnings: WarningList): string | null {
  const whole = amount.whole.replace(/^0+(?=\d)/, '');
  const currencyDigits = fractionDigitsOf(currency) ?? MAX_FRACTION_DIGITS;
  const fraction = trimFraction(amount.fraction, currencyDigits);
  const reject = (code: 'total_negative' | 'out_of_range') => {
    warnings.add(POINTER, code);
    return null;
  };
  if (amount.isNegative && /[1-9]/.test(whole + fraction)) return reject('total_negative');
  const isRounded = fraction.length > MAX_FRACTION_DIGITS;
  const text = isRounded ? round(whole, fraction) : fraction === '' ? whole : `${whole}.${fraction}`;
  if (text.replace(/\..*/, '').length > MAX_WHOLE_DIGITS) return reject('out_of_range');
  if (amount.isAmbiguous) warnings.add(POINTER, 'total_ambiguous');
  if (isRounded) warnings.add(POINTER, 'total_rounded');
  else if (fraction.length > currencyDigits) {
    warnings.add(POINTER, 'total_fraction', `More decimals than the ${currencyDigits} that ${currency} has`);
  }
  return text;
}

/**
 * Removes insignificant zeros: 149.5000 dirhams, as some shops write, become 149.50. But 1.500 dirhams may mean thousands and must not
 * become 1.50.
 */
function trimFraction(fraction: string, currencyDigits: number): string {
  if (fraction.length === 3) return fraction;
  let end = fraction.length;
  // A loop because /0+$/ takes quadratic time on long runs of zeros inside the string.
  while (end > currencyDigits && fraction[end - 1] === '0') end--;
  return fraction.slice(0, end);
}

/** Half up depends only on the first surplus digit, so the rest of a very long fraction is ignored. */
function round(whole: string, fraction: string): string {
  const decisive = `${whole}.${fraction.slice(0, MAX_FRACTION_DIGITS + 1)}`;
  return new Big(decisive).round(MAX_FRACTION_DIGITS, Big.roundHalfUp).toFixed();
}

const TOTAL = '/total';
const CURRENCY = '/currency';
export const DEFAULT_CURRENCY = 'AED';

/**
 * Reads `total` and `currency` together, because the total may contain the currency. The total becomes a plain decimal string, or null if
 * absent or (with a warning) unreadable. The currency becomes an ISO 4217 code, or stays as sent (with a warning).
 */
export function readMoney(
  total: unknown,
  currency: unknown,
  warnings: WarningList,
): { total: string | null; currency: string } {
  const inObject = isJsonObject(total) ? partsOfTotal(total) : undefined;
  if (inObject) warnings.add(TOTAL, 'total_in_object');
  const amount = readTotal(inObject ? inObject.amount : total, warnings);
  const named = readCurrency(currency ?? inObject?.currency, warnings);
  const beside = amount?.currency;
  const stored = named ?? beside?.named ?? DEFAULT_CURRENCY;
  if (!beside || beside.codes.includes(stored)) return writeMoney(amount, stored, warnings);
  if (beside.named === null) {
    warnings.add(TOTAL, 'currency_ambiguous');
    return { total: null, currency: stored };
  }
  warnings.add(CURRENCY, 'currency_conflict');
  return writeMoney(amount, stored, warnings);
}

/** The members of `{"amount": "49.00", "currency": "AED"}`; undefined if there is no amount. */
function partsOfTotal(total: JsonObject): { amount: unknown; currency: unknown } | undefined {
  const first = (...names: string[]) =>
    names.map((name) => total[name]).find((value) => value !== undefined && value !== null);
  const amount = first('amount', 'value', 'total');
  const isAmount = typeof amount === 'string' || typeof amount === 'number';
  return isAmount ? { amount, currency: first('currency', 'currency_code', 'currencyCode') } : undefined;
}

function writeMoney(amount: Amount | null, currency: string, warnings: WarningList) {
  return { total: amount && writeTotal(amount, currency, warnings), currency };
}

function readTotal(value: unknown, warnings: WarningList): Amount | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number') return readAmountOf(toDecimalText(value), 'out_of_range', warnings);
  const text = typeof value === 'string' ? cleanText(value, TOTAL, warnings) : undefined;
  return text === '' ? null : readAmountOf(text, 'total_unreadable', warnings);
}

function readAmountOf(
  text: string | undefined,
  code: 'out_of_range' | 'total_unreadable',
  warnings: WarningList,
): Amount | null {
  const amount = text === undefined ? null : readAmount(text);
  if (amount === null) warnings.add(TOTAL, code);
  return amount;
}

/** Null if absent. A mark that may mean several currencies is kept as sent, with a warning. */
function readCurrency(value: unknown, warnings: WarningList): string | null {
  const text = readText(value, CURRENCY, LIMITS.currency, warnings);
  if (text === null) return null;
  const named = readCurrencyMark(text)?.named;
  if (named) return named;
  warnings.add(CURRENCY, 'currency_unknown');
  return text;
}
