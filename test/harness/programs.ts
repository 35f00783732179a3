import { spawnSync } from 'node:child_process';
import { describe, test } from '@jest/globals';
import { findOnPath, findRedisServer } from '@orders/test-services/redis.ts';

const NAMES = {
  // The first has no window, and is faster by a third.
  chromium: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'],
  curl: ['curl'],
  docker: ['docker'],
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

/** Debian 12 has neither a kubectl that supports components nor Compose 2, so they cannot be required. */
const OPTIONAL: readonly string[] = ['docker', 'kubectl'];

/** The path of a program, or null; `CHROMIUM_PATH` overrides that of Chromium. */
export function findProgram(program: Program): string | null {
  if (program === 'redis-server') return findRedisServer();
  if (program === 'chromium' && process.env.CHROMIUM_PATH) return process.env.CHROMIUM_PATH;
  if (program === 'docker' && spawnSync('docker', ['compose', 'version']).status !== 0) return null;
  for (const name of NAMES[program]) {
    const path = findOnPath(name);
    if (path) return path;
  }
  return null;
}

const RUNS_ALL = process.env.TEST_ALL === 'on';
type Block = typeof describe | typeof test;

/**
 * `describe` for tests that need these programs. Where one is missing they are skipped, and the end of the run says so. `npm test` runs
 * only those that need no program but Redis, so each file in its folders also has a test that needs none.
 *
 * @throws {Error} with `CI=true` if a program is missing that Debian has, so that no test is skipped unnoticed.
 */
export const describeWith = (...programs: Program[]) => blockWith(describe, programs) as typeof describe;

/** Like `describeWith`, for a single test. */
export const testWith = (...programs: Program[]) => blockWith(test, programs) as typeof test;

/** `describe` for tests that take long although they need no program, such as killed processes: only `npm run test:all` runs them. */
export const describeLarge = RUNS_ALL ? describe : (none() as typeof describe);

function blockWith(block: Block, programs: Program[]): unknown {
  if (!RUNS_ALL && programs.some((program) => program !== 'redis-server')) return none();
  const missing = programs.filter((program) => findProgram(program) === null);
  if (missing.some((program) => !OPTIONAL.includes(program)) && process.env.CI === 'true')
    throw new Error(`With CI=true everything must be tested: install ${missing.join(' and ')}.`);
  return missing.length === 0 ? block : skipped(block, missing);
}

type Skip = (name: string, ...rest: unknown[]) => void;

/** `block.skip` with what is missing in the title. */
export function skipped(block: Block, missing: readonly string[]): unknown {
  const mark =
    (skip: Skip) =>
    (name: string, ...rest: unknown[]) =>
      skip(`${name} [needs ${missing.join(', ')}]`, ...rest);
  const skipEach = block.skip.each as (...table: unknown[]) => Skip;
  const each = (...table: unknown[]) => mark(skipEach(...table));
  return Object.assign(mark(block.skip as Skip), { each });
}

/** Defines no test. */
function none(): unknown {
  return Object.assign(() => {}, { each: () => () => {} });
}
