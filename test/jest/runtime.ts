import { createRequire, flushCompileCache, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { ModernFakeTimers } from '@jest/fake-timers';
import type Environment from './environment.ts';

const require = createRequire(import.meta.url);
const JEST_GLOBALS = new URL('./globals.ts', import.meta.url).href;
const FAST_CHECK = new URL('./fast-check.ts', import.meta.url).href;
/** Test files and their helpers. They are loaded once per test file; all other modules once per worker process. */
const IN_TEST_FOLDER = /\/(?:apps\/[^/]+\/|packages\/[^/]+\/)?test\/(?!jest\/)[^?]*\.ts$/;

// Jest kills a worker process that takes half a second to end. Freeing a heap of a gigabyte takes longer; process.exit() does not free it.
if (process.send) process.once('beforeExit', () => process.exit());

let fileNumber = 0;
let globals: object = {};

/** Where jest-circus keeps its state and its settings; the first symbol is a new one at each load. */
const settings = globalThis as Record<symbol, unknown>;
const KEPT_BY_CIRCUS = ['JEST_STATE_SYMBOL', 'EVENT_HANDLERS', 'TEST_TIMEOUT_SYMBOL'];

export const testGlobals = (): object => globals;

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (specifier === '@jest/globals')
      return { url: `${JEST_GLOBALS}?${fileNumber}`, format: 'module-typescript', shortCircuit: true };
    if (specifier === 'fast-check' && context.parentURL !== FAST_CHECK)
      return { url: FAST_CHECK, format: 'module-typescript', shortCircuit: true };
    const resolved = nextResolve(specifier, context);
    return IN_TEST_FOLDER.test(resolved.url) ? { ...resolved, url: `${resolved.url}?${fileNumber}` } : resolved;
  },
});

/**
 * Loads modules with Node itself, which strips the types. Jest's own runtime evaluates every module again for each test file, which took a
 * fifth of the CPU time of a run. In return there are no module mocks and no coverage, and the test files of one worker share the globals.
 */
export default class Runtime {
  private readonly environment: Environment;

  constructor(_config: unknown, environment: Environment) {
    this.environment = environment;
    fileNumber++;
  }

  /** Reloads jest-circus, as it keeps the tests and settings of the last file, and with them all that it started, in globals. */
  requireInternalModule(path: string): unknown {
    delete require.cache[path];
    for (const symbol of Object.getOwnPropertySymbols(settings))
      if (KEPT_BY_CIRCUS.includes(symbol.description ?? '')) delete settings[symbol];
    return require(path);
  }

  requireModule(path: string): unknown {
    return require(path);
  }

  unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  async unstable_importModule(path: string): Promise<unknown> {
    return import(pathToFileURL(path).href);
  }

  setGlobalsForRuntime(given: object): void {
    const { moduleMocker, fakeTimersModern } = this.environment;
    const jest = {
      spyOn: moduleMocker.spyOn.bind(moduleMocker),
      restoreAllMocks: () => moduleMocker.restoreAllMocks(),
      useFakeTimers: (config?: Parameters<ModernFakeTimers['useFakeTimers']>[0]) =>
        fakeTimersModern.useFakeTimers(config),
      useRealTimers: () => fakeTimersModern.useRealTimers(),
      advanceTimersByTime: (ms: number) => fakeTimersModern.advanceTimersByTime(ms),
      setTimeout: (ms: number) => {
        settings[Symbol.for('TEST_TIMEOUT_SYMBOL')] = ms;
      },
    };
    globals = { ...given, jest };
  }

  enterTestCode(): void {}
  leaveTestCode(): void {}
  /** Writes the compile cache now: at the end of the process it would take longer than Jest waits. */
  teardown(): void {
    flushCompileCache();
  }

  getSourceMaps(): null {
    return null;
  }
  getAllCoverageInfoCopy(): undefined {}
}
