import type { Config } from 'jest';

const config: Config = {
  testMatch: ['<rootDir>/{apps,packages}/*/test/**/*.test.ts'],
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '\\.ts$': ['@swc/jest', { jsc: { target: 'es2024', parser: { syntax: 'typescript' } }, module: { type: 'es6' } }],
  },
  testTimeout: 60_000,
  maxWorkers: 2,
};

export default config;
