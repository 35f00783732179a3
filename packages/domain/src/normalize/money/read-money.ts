import { isInRange, toDecimalText } from '../decimal-text.ts';
import { LIMITS } from '../limits.ts';
import { cleanText, readText } from '../text.ts';
import type { WarningList } from '../warnings.ts';
import { type Amount, readAmount } from './amount.ts';
import { readCurrencyMark } from './currency.ts';
import { writeTotal } from './write-total.ts';

const TOTAL = '/total';
const CURRENCY = '/currency';
const DEFAULT_CURRENCY = 'AED';

/**
 * Reads `total` and `currency` together, since each may tell about the other. The total is plain decimal text, or null
 * when absent or, with a warning, unreadable; the currency an ISO 4217 code, or as sent when it is none.
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
  if (typeof value === 'number' && !isInRange(value)) {
    warnings.add(TOTAL, 'out_of_range');
    return null;
  }
  const text = toText(value, warnings);
  if (text === '') return null;
  const amount = text === undefined ? null : readAmount(text);
  if (amount === null) warnings.add(TOTAL, 'total_unreadable');
  return amount;
}

function toText(value: unknown, warnings: WarningList): string | undefined {
  if (typeof value === 'string') return cleanText(value, TOTAL, warnings);
  return typeof value === 'number' ? toDecimalText(value) : undefined;
}

/** Null when absent. A name or sign of several currencies is none: what is kept of it is what was sent. */
function readCurrency(value: unknown, warnings: WarningList): string | null {
  const text = readText(value, CURRENCY, LIMITS.currency, warnings);
  if (text === null) return null;
  const named = readCurrencyMark(text)?.named;
  if (named) return named;
  warnings.add(CURRENCY, 'currency_unknown');
  return text;
}
