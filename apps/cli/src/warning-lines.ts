import type { FieldError } from '@orders/domain';

/** Warnings or errors of an order, one line each; undefined if there are none. */
export function warningLines(warnings: readonly FieldError[]): string | undefined {
  return warnings.map(({ pointer, code, detail }) => `${pointer || '/'} ${code}: ${detail}`).join('\n') || undefined;
}
