import { afterEach, expect, jest, test } from '@jest/globals';
import { createLanePicker } from '../src/receipts/receipt-writer.ts';

const bodies = (count: number, bytes: number) => Array(count).fill(Buffer.alloc(bytes));

afterEach(() => {
  jest.useRealTimers();
});

test.each([
  ['fifty short orders', 50, 100, 'prompt'],
  ['fifty-one short orders', 51, 100, 'bulk'],
  ['fifty of 16 KiB', 50, 16_384, 'prompt'],
  ['twenty-six a little longer', 26, 16_385, 'bulk'],
  ['four of the longest', 4, 262_144, 'bulk'],
  ['three of the longest', 3, 262_144, 'prompt'],
  ['fifty-one without a byte', 51, 0, 'bulk'],
])('%s sent together use the lane for their number of bytes', (_, count, bytes, lane) => {
  expect(createLanePicker()(1, bodies(count, bytes))).toBe(lane);
});

test('an account that sends long orders one by one uses up only its own share', () => {
  const pickLane = createLanePicker();
  const lanes = Array.from({ length: 5 }, () => pickLane(1, bodies(1, 262_144)));
  expect(lanes).toEqual(['prompt', 'prompt', 'prompt', 'bulk', 'bulk']);
  expect(pickLane(2, bodies(1, 100))).toBe('prompt');
});

test('an account above its share uses the bulk lane until it stayed within its share for a whole second', () => {
  jest.useFakeTimers();
  const pickLane = createLanePicker();
  const laneAfter = (ms: number, count: number) => {
    jest.advanceTimersByTime(ms);
    return pickLane(1, bodies(count, 100));
  };
  expect([laneAfter(0, 51), laneAfter(1000, 1), laneAfter(1000, 1)]).toEqual(['bulk', 'bulk', 'prompt']);
  expect([laneAfter(1000, 51), laneAfter(2000, 1)]).toEqual(['bulk', 'prompt']);
});
