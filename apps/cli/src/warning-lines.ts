import type { FieldError } from '@orders/domain';

/** What best effort had to mend, or what was refused, one line each; undefined where there was nothing. */
export function warningLines(warnings: readonly FieldError[]): string | undefined {
  return warnings.map(({ pointer, code, detail }) => `${pointer || '/'} ${code}: ${detail}`).join('\n') || undefined;
}
