import { expect, test } from '@jest/globals';
import type { Measurement } from '../src/measure.ts';
import { median, percentile, ratioByRound, renderRatio } from '../src/statistics.ts';

const measured = (contestant: string, ordersPerSecond: number, faults: string[] = []) =>
  ({ contestant, ordersPerSecond, faults }) as unknown as Measurement;
const rate = ({ ordersPerSecond }: Measurement) => ordersPerSecond;

test('a ratio is of measurements in the same round, whichever of them was first', () => {
  const rounds = [
    measured('one', 100),
    measured('two', 90),
    measured('two', 40),
    measured('one', 50),
    measured('one', 10),
    measured('two', 12),
  ];
  const ratio = ratioByRound(rounds, ['two', 'one'], rate);
  expect(ratio).toEqual({ median: 0.9, min: 0.8, max: 1.2 });
  expect(renderRatio(ratio)).toBe('0.90 (0.80–1.20)');
});

test('a failed measurement gives no ratio', () => {
  const rounds = [measured('one', 100), measured('two', 90, ['1 accepted orders are missing'])];
  expect(ratioByRound(rounds, ['two', 'one'], rate).median).toBeNaN();
});

test('median and percentiles ignore missing measurements', () => {
  expect(median([3, Number.NaN, 1, 2])).toBe(2);
  expect(median([1, 2, 3, 10])).toBe(2.5);
  expect(median([Number.NaN])).toBeNaN();
  const oneToHundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect([percentile(oneToHundred, 0.5), percentile(oneToHundred, 0.99), percentile(oneToHundred, 1)]).toEqual([
    50, 99, 100,
  ]);
  expect(percentile([], 0.5)).toBeNaN();
});
