import config from './jest.config.ts';

/** `npm run test:quickstarts`: the programs for senders in languages that no other test needs. */
export default { ...config, testMatch: ['<rootDir>/verification/quickstarts/*.test.ts'] };
