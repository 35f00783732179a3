import { expect, test } from '@jest/globals';
import { createShares } from '../src/rejections/shares.ts';

/** Takes again and again, at one moment. */
function takeAll(shares: ReturnType<typeof createShares>, accountId: number, tries = 200) {
  return Array.from({ length: tries }, () => shares.take(accountId)).filter((share) => share !== null);
}

test('an account has ten at once and then two a second, however long it kept quiet', () => {
  let time = 0;
  const shares = createShares(() => time);
  expect(takeAll(shares, 1)).toHaveLength(10);
  time += 1000;
  expect(takeAll(shares, 1)).toHaveLength(2);
  time += 3_600_000;
  expect(takeAll(shares, 1)).toHaveLength(10);
});

test('all together have fifty at once and then twenty a second', () => {
  let time = 0;
  const shares = createShares(() => time);
  const taken = () =>
    Array.from({ length: 20 }, (_, account) => takeAll(shares, account).length).reduce((a, b) => a + b);
  expect(taken()).toBe(50);
  time += 1000;
  expect(taken()).toBe(20);
});

test('the next that is had says how many were missed', () => {
  let time = 0;
  const shares = createShares(() => time);
  takeAll(shares, 1, 17);
  shares.miss(1);
  time += 1000;
  expect([shares.take(1), shares.take(1), shares.take(2)]).toEqual([{ missed: 8 }, { missed: 0 }, { missed: 0 }]);
});

test('what an account missed is taken once nothing of it is recorded for a while, and can be given back', () => {
  let time = 0;
  const shares = createShares(() => time);
  takeAll(shares, 1, 17);
  shares.miss(2);
  expect(shares.takeMissed(2000)).toEqual([{ accountId: 2, missed: 1 }]);
  expect(shares.hasMissed()).toBe(true);
  time += 2000;
  expect(shares.takeMissed(2000)).toEqual([{ accountId: 1, missed: 7 }]);
  expect([shares.hasMissed(), shares.takeMissed(0)]).toEqual([false, []]);
  shares.release(1, 7);
  expect(shares.take(1)).toEqual({ missed: 7 });
});
