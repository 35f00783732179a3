import { toDecimalText } from '../decimal-text.ts';
import { LIMITS } from '../limits.ts';
import { cleanText, readText } from '../text.ts';
import type { WarningList } from '../warnings.ts';
import { type Amount, readAmount } from './amount.ts';
import { readCurrencyMark } from './currency.ts';
import { writeTotal } from './write-total.ts';

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
  const amount = readTotal(total, warnings);
  const named = readCurrency(currency, warnings);
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
