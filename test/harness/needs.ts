/** Debian's package of a program, where the names differ. */
export const PACKAGES: Record<string, string> = { php: 'php-cli', promtool: 'prometheus' };

/** Marks the title of a test that is skipped; `test/jest/reporter.ts` counts them. */
export const NEEDS = /\[needs ([^\]]+)\]/;
