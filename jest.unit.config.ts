import config from './jest.config.ts';

/** `npm run test:unit`: the tests of apps and packages, which need no service and no running app. */
export default {
  ...config,
  testMatch: ['<rootDir>/{apps,packages}/*/test/**/*.test.ts'],
  globalSetup: undefined,
  globalTeardown: undefined,
  reporters: ['default'],
};
