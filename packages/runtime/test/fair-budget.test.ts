import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createFairBudget } from '../src/concurrency/fair-budget.ts';

/** Takes units until the budget has no more. @returns their number. */
function fill(budget: ReturnType<typeof createFairBudget>, accountId: number): number {
  let count = 0;
  while (budget.take(accountId, 1)) count += 1;
  return count;
}

test('one account gets half, the next half of the rest, and another account always finds room', () => {
  const budget = createFairBudget(1000);
  expect([1, 2, 3, 4].map((accountId) => fill(budget, accountId))).toEqual([500, 250, 125, 63]);
  expect(budget.hasRoom(5, 1)).toBe(true);
});

test('two accounts that take all the time get a third each', () => {
  const budget = createFairBudget(900);
  fill(budget, 1);
  for (let round = 0; round < 2000; round += 1) {
    for (const accountId of [1, 2]) {
      if (budget.takenBy(accountId) > 0 && round % 2 === 0) budget.release(accountId, 1);
      budget.take(accountId, 1);
    }
  }
  expect(Math.abs(budget.takenBy(1) - 300)).toBeLessThan(5);
  expect(Math.abs(budget.takenBy(2) - 300)).toBeLessThan(5);
});

test('a budget of one still serves one account', () => {
  const budget = createFairBudget(1);
  expect(budget.take(1, 1)).toBe(true);
  expect(budget.take(2, 1)).toBe(false);
  budget.release(1, 1);
  expect(budget.take(2, 1)).toBe(true);
});

test('the budget never grants more than its maximum, and everything can be released', () => {
  const steps = fc.array(
    fc.record({ accountId: fc.integer({ min: 1, max: 4 }), amount: fc.integer({ min: 1, max: 40 }) }),
  );
  fc.assert(
    fc.property(steps, (taken) => {
      const budget = createFairBudget(100);
      const granted = taken.filter(({ accountId, amount }) => budget.take(accountId, amount));
      expect(budget.taken).toBe(granted.reduce((sum, { amount }) => sum + amount, 0));
      expect(budget.taken).toBeLessThanOrEqual(100);
      for (const { accountId, amount } of granted) budget.release(accountId, amount);
      expect([budget.taken, budget.takenBy(1)]).toEqual([0, 0]);
    }),
  );
});
