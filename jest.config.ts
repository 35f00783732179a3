import type { Config } from 'jest';

const config: Config = {
  testMatch: ['<rootDir>/{apps,packages}/*/test/**/*.test.ts', '<rootDir>/test/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '\\.ts$': ['@swc/jest', { jsc: { target: 'es2024', parser: { syntax: 'typescript' } }, module: { type: 'es6' } }],
  },
  globalSetup: '<rootDir>/test/harness/global-setup.ts',
  globalTeardown: '<rootDir>/test/harness/global-teardown.ts',
  reporters: ['default', '<rootDir>/test/harness/reporter.ts'],
  // What is published of packages/client is a package of the same name.
  modulePathIgnorePatterns: ['<rootDir>/packages/client/dist/'],
  testTimeout: 60_000,
  maxWorkers: 2,
};

export default config;
