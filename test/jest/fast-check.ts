import fc from 'fast-check';

// The same cases in every run, so that a change fails for what it changes. `npm run test:full` looks for new ones.
const seed = Number(process.env.RANDOM_SEED ?? 1);
if (!Number.isSafeInteger(seed)) throw new Error('RANDOM_SEED takes a whole number.');
fc.configureGlobal({ seed });

/** `npm test` tries the first tenth of these cases, and at least a hundred; a test with a seed of its own tries all. */
const SHARE = process.env.TEST_ALL === 'on' ? 1 : 0.1;

const assert = ((property, parameters = {}) => {
  const { numRuns = 100 } = parameters;
  const tried = Math.min(numRuns, Math.max(100, numRuns * SHARE));
  return fc.assert(property, parameters.seed === undefined ? { ...parameters, numRuns: tried } : parameters);
}) as typeof fc.assert;

export default { ...fc, assert };
