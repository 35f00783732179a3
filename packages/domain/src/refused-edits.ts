import { WARNINGS, type Warning, type WarningCode } from './normalize/warnings.ts';
import type { FieldError } from './problems.ts';

/** Warnings about a value that is lost or not understood. A reviewer who typed it can correct it at once. */
const REFUSED: ReadonlySet<WarningCode> = new Set<WarningCode>([
  'not_text',
  'inexact_number',
  'out_of_range',
  'too_long',
  'not_an_object',
  'phone_unreadable',
  'phone_digits_lost',
  'email_implausible',
  'emirate_unknown',
  'emirate_ambiguous',
  'too_many_items',
  'not_an_item',
  'quantity_unreadable',
  'total_unreadable',
  'total_negative',
  'total_ambiguous',
  'currency_unknown',
  'currency_ambiguous',
]);

/** Errors for those warnings of an edit that are a reason to refuse it. */
export function toRefusals(warnings: readonly Warning[]): FieldError[] {
  return warnings
    .filter(({ code }) => REFUSED.has(code))
    .map(({ pointer, code }) => ({ pointer, code, detail: `${WARNINGS[code][0]}.` }));
}
