import type { Warning } from '@orders/domain';

/** What best effort had to mend, one line each; undefined where there was nothing. */
export function warningLines(warnings: readonly Warning[]): string | undefined {
  return warnings.map(({ pointer, code, detail }) => `${pointer || '/'} ${code}: ${detail}`).join('\n') || undefined;
}
