import { join } from 'node:path';
import type { Config } from 'jest';

/** Tests start hundreds of processes; compiling their modules is half of the CPU time that each takes to start. */
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled');

/** Folders of `npm run test:all`. */
const LARGE = ['pages', 'resilience', 'deploy', 'guides'].map((name) => `<rootDir>/test/${name}/`);

/** `npm test`: every function, and every route, command, portal API and state of a receipt, on each queue that the machine has. */
const config: Config = {
  testMatch: ['<rootDir>/{apps,packages,verification}/*/test/**/*.test.ts', '<rootDir>/test/*/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', ...LARGE],
  // Node strips the types.
  transform: {},
  // Manifests of its packages, one for each version.
  modulePathIgnorePatterns: ['<rootDir>/bundle/'],
  testEnvironment: '<rootDir>/test/jest/environment.ts',
  runtime: '<rootDir>/test/jest/runtime.ts',
  globalSetup: '<rootDir>/test/jest/global-setup.ts',
  globalTeardown: '<rootDir>/test/jest/global-teardown.ts',
  reporters: ['default', '<rootDir>/test/jest/reporter.ts'],
  // A bound for what hangs; on a machine whose cores are lent out, the slowest tests take two minutes.
  testTimeout: 240_000,
  // A worker keeps the modules of the test files that it ran; above this heap it is replaced.
  workerIdleMemoryLimit: '240MB',
  // Tests wait as much as they compute: four workers keep two cores busy.
  maxWorkers: 4,
};

export default config;
