import { toAsciiDigits } from './digits.ts';
import { removeInvisible } from './text.ts';
import type { WarningList } from './warnings.ts';

/** Warnings do not repeat longer values. */
const MAX_SHOWN = 20;

/** Reads a quantity: a positive safe integer, or, with a warning, a string that spells one. Anything else becomes null. */
export function readQuantity(value: unknown, pointer: string, warnings: WarningList): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && isQuantity(value)) return value;
  if (typeof value === 'string') {
    const text = removeInvisible(value).trim();
    if (text === '') return null;
    const spelled = spelledNumber(text);
    if (isQuantity(spelled)) {
      warnings.add(pointer, 'quantity_from_text');
      return spelled;
    }
  }
  warnings.add(pointer, 'quantity_unreadable', quantityProblem(value));
  return null;
}

function isQuantity(number: number): boolean {
  return Number.isSafeInteger(number) && number > 0;
}

/** "2", "٢", "2.00", "x2" or "2 pcs": a number, optionally with a word for pieces. */
const SPELLED =
  /^(?:x|×|qty:?|\+)?\s?(\d+)(?:\.0*)?\s?(?:x|×|pcs?\.?|pieces?|nos?\.?|units?|packs?|boxe?s?|قطع|قطعة|حبة|حبات)?$/i;

/** NaN for anything else. */
function spelledNumber(text: string): number {
  const [, whole] = SPELLED.exec(toAsciiDigits(text)) ?? [];
  return Number(whole);
}

/** The problem with a number, which is not personal data and may be repeated; undefined for other types. */
function quantityProblem(value: unknown): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  const shown = String(value);
  if (shown.length > MAX_SHOWN) return undefined;
  if (!Number.isInteger(value)) return `quantity ${shown} is not a whole number`;
  return `quantity ${shown} is ${value > 0 ? 'too large' : 'not above zero'}`;
}
