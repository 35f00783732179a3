import { expect, test } from '@jest/globals';
import { FAULTS } from '../src/faults/faults.ts';
import { planRounds } from '../src/faults/plan.ts';

const plan = (seed: number, rounds: number) =>
  planRounds(FAULTS, { rounds, roundSeconds: 6, seed }).map(({ fault, ...rest }) => ({ name: fault?.name, ...rest }));

test('the seed decides which faults are injected, where and when', () => {
  expect(plan(7, 40)).toEqual(plan(7, 40));
  expect(plan(7, 40)).not.toEqual(plan(8, 40));
});

test('each kind of fault is injected once before any is repeated, within the first half of its round', () => {
  const rounds = plan(7, 2 * FAULTS.length);
  const names = new Set(FAULTS.map(({ name }) => name));
  const cycles = [rounds.slice(0, FAULTS.length), rounds.slice(FAULTS.length)];
  for (const cycle of cycles) expect(new Set(cycle.map(({ name }) => name))).toEqual(names);
  expect(rounds.filter(({ injectAt }) => !(injectAt > 0 && injectAt <= 3))).toEqual([]);
});
