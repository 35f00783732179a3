import fc from 'fast-check';

// The same cases in every run, so that a change fails for what it changes. `npm run test:full` looks for new ones.
const seed = Number(process.env.RANDOM_SEED ?? 1);
if (!Number.isSafeInteger(seed)) throw new Error('RANDOM_SEED takes a whole number.');
fc.configureGlobal({ seed });

export default fc;
