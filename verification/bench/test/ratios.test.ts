import { expect, test } from '@jest/globals';
import type { Measurement } from '../src/measure/measure.ts';
import { ratioByRound, renderRatio } from '../src/report/ratios.ts';

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
