import { afterEach, expect, jest, test } from '@jest/globals';
import { backoff } from '../src/concurrency/timers.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

const delays = (random: number, jitter?: readonly [number, number]) => {
  jest.spyOn(Math, 'random').mockReturnValue(random);
  const schedule = { base: 250, cap: 5000, ...(jitter && { jitter }) };
  return [0, 1, 4, 5, 5000].map((doublings) => backoff(doublings, schedule));
};

test('a delay doubles up to the cap, and half of it is random', () => {
  expect(delays(0)).toEqual([125, 250, 2000, 2500, 2500]);
  expect(delays(1)).toEqual([250, 500, 4000, 5000, 5000]);
});

test('other jitter can exceed the cap', () => {
  expect(delays(0, [0.75, 1.25])).toEqual([188, 375, 3000, 3750, 3750]);
  expect(delays(1, [0.75, 1.25])).toEqual([313, 625, 5000, 6250, 6250]);
});
