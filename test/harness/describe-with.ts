import { spawnSync } from 'node:child_process';
import { describe } from '@jest/globals';

/**
 * `describe` where these programs are installed; elsewhere its tests are counted as skipped.
 * @throws {Error} with CI=true where one is missing.
 */
export function describeWith(...programs: string[]): typeof describe | typeof describe.skip {
  const missing = programs.find((program) => spawnSync(program, ['--version']).error);
  if (missing && process.env.CI === 'true')
    throw new Error(`With CI=true nothing may be left out: install ${missing}.`);
  return missing ? describe.skip : describe;
}
