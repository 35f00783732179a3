import fc from 'fast-check';

// The same cases in every run, so that a change fails for what it changes. `npm run test:full` looks for new ones.
const seed = Number(process.env.RANDOM_SEED ?? 1);
if (!Number.isSafeInteger(seed)) throw new Error('RANDOM_SEED takes a whole number.');
fc.configureGlobal({ seed });

/** `npm test` tries the first tenth of the cases, and at least a hundred. */
const SHARE = process.env.TEST_ALL === 'on' ? 1 : 0.1;

export default {
  ...fc,
  assert: ((property, { numRuns = 100, ...parameters } = {}) =>
    fc.assert(property, {
      ...parameters,
      numRuns: Math.min(numRuns, Math.max(100, numRuns * SHARE)),
    })) as typeof fc.assert,
};
