/** The two halves of a number written with separators. `isAmbiguous`: the other reading was nearly as good. */
export type Decimal = { whole: string; fraction: string; isAmbiguous: boolean };

/** Groups of three behind the first, or the Indian way: groups of two and a last one of three. */
const GROUPED = /^\d{1,3}(?:([,.' ])\d{3})(?:\1\d{3})*$|^\d{1,2}(?:,\d{2})*,\d{3}$/;

/**
 * Reads "1250.50", "1,250.50", "1.250,50", "1 250,5" or ",50". Of two kinds of separator the last is the decimal one.
 * A single one followed by three digits is thousands when it is a comma, decimals when it is a point. Null when the
 * separators fit no way of writing a number.
 */
export function splitDecimal(text: string): Decimal | null {
  if (/^\d+$/.test(text)) return { whole: text, fraction: '', isAmbiguous: false };
  const single = readSingleComma(text);
  if (single) return single;
  const [, whole, point, fraction] = /^(.*)([.,])(\d+)$/.exec(text) ?? [];
  if (whole !== undefined && point && fraction && !whole.includes(point) && isWhole(whole)) {
    // "1,2500" is as likely a slip for thousands.
    const isAmbiguous = point === ',' && fraction.length > 3 && /^\d+$/.test(whole);
    return { whole: ungroup(whole) || '0', fraction, isAmbiguous };
  }
  return GROUPED.test(text) ? { whole: ungroup(text), fraction: '', isAmbiguous: false } : null;
}

/** A single comma before three digits. "0,500" cannot be thousands, and "1234,567" is doubtful as either. */
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
