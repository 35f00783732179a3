import { describe, test } from '@jest/globals';
import { findOnPath, findRedisServer } from '@orders/test-services';

const NAMES = {
  chromium: ['chromium', 'chromium-browser', 'google-chrome'],
  curl: ['curl'],
  haproxy: ['haproxy'],
  jq: ['jq'],
  kubectl: ['kubectl', 'kustomize'],
  openssl: ['openssl'],
  pgbouncer: ['pgbouncer'],
  php: ['php'],
  prometheus: ['prometheus'],
  promtool: ['promtool'],
  python3: ['python3'],
};

/** What some tests need on this machine, and the others do without. */
type Program = keyof typeof NAMES | 'redis-server';

/** Where a program is; `CHROMIUM_PATH` names a Chromium of one's own. */
export function findProgram(program: Program): string | null {
  if (program === 'redis-server') return findRedisServer();
  if (program === 'chromium' && process.env.CHROMIUM_PATH) return process.env.CHROMIUM_PATH;
  for (const name of NAMES[program]) {
    const path = findOnPath(name);
    if (path) return path;
  }
  return null;
}

/**
 * `describe`, for tests that need these programs. Where one is missing they are counted as skipped.
 *
 * @throws {Error} where one other than kubectl is missing with `CI=true`, so that nothing goes untested unnoticed.
 */
export function describeWith(...programs: Program[]): typeof describe | typeof describe.skip {
  return areThere(programs) ? describe : describe.skip;
}

/** The same for a test by itself. */
export function testWith(...programs: Program[]): typeof test | typeof test.skip {
  return areThere(programs) ? test : test.skip;
}

function areThere(programs: Program[]): boolean {
  const missing = programs.filter((program) => findProgram(program) === null);
  // Debian 12 has no kubectl that knows components, so a machine without one cannot simply install it.
  if (missing.some((program) => program !== 'kubectl') && process.env.CI === 'true') {
    throw new Error(`With CI=true everything must be tested: install ${missing.join(' and ')}.`);
  }
  return missing.length === 0;
}
