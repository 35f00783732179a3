/** Both sides of the decimal point. `isAmbiguous`: another reading is nearly as likely. */
export type Decimal = { whole: string; fraction: string; isAmbiguous: boolean };

/** Groups of three digits after the first, or Indian grouping: groups of two and a last one of three. */
const GROUPED = /^\d{1,3}(?:([,.' ])\d{3})(?:\1\d{3})*$|^\d{1,2}(?:,\d{2})*,\d{3}$/;

/**
 * Reads "1250.50", "1,250.50", "1.250,50", "1 250,5" or ",50". The last of two kinds of separator is the decimal one. A single separator
 * before three digits is a thousands separator if a comma, a decimal one if a point. Null if the separators form no number.
 */
export function splitDecimal(text: string): Decimal | null {
  if (/^\d+$/.test(text)) return { whole: text, fraction: '', isAmbiguous: false };
  const single = readSingleComma(text);
  if (single) return single;
  const [, whole, point, fraction] = /^(.*)([.,])(\d+)$/.exec(text) ?? [];
  if (whole !== undefined && point && fraction && !whole.includes(point) && isWhole(whole)) {
    // "1,2500" may also be a mistyped thousands separator.
    const isAmbiguous = point === ',' && fraction.length > 3 && /^\d+$/.test(whole);
    return { whole: ungroup(whole) || '0', fraction, isAmbiguous };
  }
  return GROUPED.test(text) ? { whole: ungroup(text), fraction: '', isAmbiguous: false } : null;
}

/** A single comma before three digits. "0,500" cannot be thousands; "1234,567" is ambiguous. */
function readSingleComma(text: string): Decimal | undefined {
  const [, before, after] = /^(\d+),(\d{3})$/.exec(text) ?? [];
  if (before === undefined || after === undefined) return undefined;
  if (/^0+$/.test(before)) return { whole: '0', fraction: after, isAmbiguous: true };
  return { whole: before + after, fraction: '', isAmbiguous: before.length > 3 };
}

function isWhole(text: string): boolean {
  return /^\d*$/.test(text) || GROUPED.test(text);
}

function ungroup(text: string): string {
  return text.replace(/[,.' ]/g, '');
}
