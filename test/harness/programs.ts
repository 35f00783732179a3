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

/** Programs that some tests need. */
type Program = keyof typeof NAMES | 'redis-server';

/** The path of a program, or null; `CHROMIUM_PATH` overrides that of Chromium. */
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
 * `describe` for tests that need these programs; skipped if one is missing.
 *
 * @throws {Error} with `CI=true` if a program other than kubectl is missing, so that no test is skipped unnoticed.
 */
export function describeWith(...programs: Program[]): typeof describe | typeof describe.skip {
  return areInstalled(programs) ? describe : describe.skip;
}

/** Like `describeWith`, for a single test. */
export function testWith(...programs: Program[]): typeof test | typeof test.skip {
  return areInstalled(programs) ? test : test.skip;
}

function areInstalled(programs: Program[]): boolean {
  const missing = programs.filter((program) => findProgram(program) === null);
  // Debian 12 has no kubectl that supports components, so it cannot be required.
  if (missing.some((program) => program !== 'kubectl') && process.env.CI === 'true') {
    throw new Error(`With CI=true everything must be tested: install ${missing.join(' and ')}.`);
  }
  return missing.length === 0;
}
