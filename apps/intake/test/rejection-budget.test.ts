import { expect, test } from '@jest/globals';
import { createRejectionBudget } from '../src/rejections/rejection-budget.ts';

/** Takes tokens repeatedly at one point in time. */
function takeAll(budget: ReturnType<typeof createRejectionBudget>, accountId: number, tries = 200) {
  return Array.from({ length: tries }, () => budget.take(accountId)).filter((granted) => granted !== null);
}

test('an account may record ten rejections at once and then two a second, however long it was idle', () => {
  let time = 0;
  const budget = createRejectionBudget(() => time);
  expect(takeAll(budget, 1)).toHaveLength(10);
  time += 1000;
  expect(takeAll(budget, 1)).toHaveLength(2);
  time += 3_600_000;
  expect(takeAll(budget, 1)).toHaveLength(10);
});

test('all accounts together may record fifty rejections at once and then twenty a second', () => {
  let time = 0;
  const budget = createRejectionBudget(() => time);
  const taken = () =>
    Array.from({ length: 20 }, (_, account) => takeAll(budget, account).length).reduce((a, b) => a + b);
  expect(taken()).toBe(50);
  time += 1000;
  expect(taken()).toBe(20);
});

test('the next recorded rejection carries the number of missed ones', () => {
  let time = 0;
  const budget = createRejectionBudget(() => time);
  takeAll(budget, 1, 17);
  budget.miss(1);
  time += 1000;
  expect([budget.take(1), budget.take(1), budget.take(2)]).toEqual([{ missed: 8 }, { missed: 0 }, { missed: 0 }]);
});

test('the missed count of an account is taken once the account was quiet for a while, and can be returned', () => {
  let time = 0;
  const budget = createRejectionBudget(() => time);
  takeAll(budget, 1, 17);
  budget.miss(2);
  expect(budget.takeMissed(2000)).toEqual([{ accountId: 2, missed: 1 }]);
  expect(budget.hasMissed()).toBe(true);
  time += 2000;
  expect(budget.takeMissed(2000)).toEqual([{ accountId: 1, missed: 7 }]);
  expect([budget.hasMissed(), budget.takeMissed(0)]).toEqual([false, []]);
  budget.returnMissed(1, 7);
  expect(budget.take(1)).toEqual({ missed: 7 });
});
