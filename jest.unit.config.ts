import config from './jest.config.ts';

/** What needs Postgres, Redis or a running app. */
const NEEDS_SERVICES = ['/apps/cli/test/', '/apps/intake/test/re(ad-replica|play-queue)', '/apps/worker/test/'];

/** `npm run test:unit`: tests of functions alone. */
export default {
  ...config,
  testMatch: ['<rootDir>/{apps,packages}/*/test/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', ...NEEDS_SERVICES],
  globalSetup: undefined,
  globalTeardown: undefined,
  reporters: ['default'],
};
