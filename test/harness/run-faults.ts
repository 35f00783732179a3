import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { baseEnvironment } from '@orders/test-services/child.ts';

const MAIN = resolve(import.meta.dirname, '../../verification/bench/src/faults/main.ts');
/** The timeout of a test with a run, which takes two minutes on a machine of its own. */
export const RUN_MS = 900_000;
/** Shorter than the timeout of the test, so that no run outlives a failed test. */
const END_MS = RUN_MS - 15_000;

/** Runs the fault runner. @returns its exit code and output. */
export const runFaults = (...args: string[]) =>
  promisify(execFile)(process.execPath, [MAIN, ...args], { env: baseEnvironment(), timeout: END_MS }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code: Number(code ?? NaN), stdout: String(stdout), stderr: String(stderr) }),
  );
