import config from './jest.config.ts';

/** `npm run test:unit`: the tests of functions, which need no service and no running app. */
export default {
  ...config,
  testMatch: ['<rootDir>/{apps,packages,verification}/*/test/**/*.test.ts'],
  globalSetup: undefined,
  globalTeardown: undefined,
  reporters: ['default'],
};
