import config from './jest.config.ts';

// Tests that are defined only then: `describeWith` and `describeLarge`.
process.env.TEST_ALL = 'on';

/** They take minutes, and run with `npm run test:full`. */
const LONG = ['<rootDir>/test/deploy/kubernetes-guide', '<rootDir>/test/resilience/fault-detection'];

/** `npm run test:all`: also pages in a browser, faults and floods, deployments, and the guides as they are pasted. */
export default {
  ...config,
  testPathIgnorePatterns: ['/node_modules/', ...(process.env.TEST_FULL === 'on' ? [] : LONG)],
};
