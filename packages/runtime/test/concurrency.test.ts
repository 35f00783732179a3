import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, jest, test } from '@jest/globals';
import { chunkBySize } from '../src/concurrency/chunk-by-size.ts';
import { createMicroBatcher } from '../src/concurrency/micro-batcher.ts';
import { backoff } from '../src/concurrency/timers.ts';

/** Up to two concurrent batches of at most three items, which end when the test calls `end`. */
function startBatches() {
  const started: string[][] = [];
  const ends: (() => void)[] = [];
  const add = createMicroBatcher<string>({
    maxConcurrent: 2,
    nextBatchSize: (waiting) => Math.min(waiting.length, 3),
    work: (batch) => {
      started.push(batch);
      return new Promise((resolve) => ends.push(resolve));
    },
  });
  /** Ends a batch. The next one starts in the second iteration of the event loop. */
  const end = async (index: number) => {
    ends[index]?.();
    for (let iteration = 1; iteration <= 3; iteration += 1) await turn();
  };
  return { add, started, end };
}

test('a single item is processed immediately, items of one event loop iteration share a batch', async () => {
  const { add, started, end } = startBatches();
  add('a');
  await turn();
  expect(started).toEqual([['a']]);
  await end(0);
  add('b');
  add('c');
  await turn();
  expect(started).toEqual([['a'], ['b', 'c']]);
});

test('items wait for the running batch, unless they fill a second one', async () => {
  const { add, started, end } = startBatches();
  add('a');
  await turn();
  for (const item of ['b', 'c']) add(item);
  await turn();
  expect(started).toEqual([['a']]);
  for (const item of ['d', 'e']) add(item);
  await turn();
  expect(started).toEqual([['a'], ['b', 'c', 'd']]);
  for (const item of ['f', 'g', 'h', 'i']) add(item);
  await turn();
  expect(started).toHaveLength(2);
  await end(1);
  expect(started).toEqual([['a'], ['b', 'c', 'd'], ['e', 'f', 'g']]);
  await end(0);
  await end(2);
  expect(started.at(-1)).toEqual(['h', 'i']);
});

test('items that the results of a batch bring share the next batch with those that waited', async () => {
  const { add, started, end } = startBatches();
  add('a');
  await turn();
  add('b');
  await turn();
  const ended = end(0);
  await turn();
  await turn();
  add('c');
  await ended;
  expect(started).toEqual([['a'], ['b', 'c']]);
});

test('with whenSlow, another batch also starts when the newest one is slow, up to a limit', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  const started: string[][] = [];
  const add = createMicroBatcher<string>({
    maxConcurrent: 2,
    whenSlow: { afterMs: 25, maxConcurrent: 3 },
    nextBatchSize: (waiting) => waiting.length,
    work: (batch) => {
      started.push(batch);
      return new Promise(() => {});
    },
  });
  const pass = async (milliseconds: number) => {
    await turn();
    jest.advanceTimersByTime(milliseconds);
    await turn();
  };
  try {
    add('a');
    await pass(24);
    add('b');
    await pass(0);
    expect(started).toEqual([['a']]);
    await pass(1);
    expect(started).toEqual([['a'], ['b']]);
    await pass(25);
    add('c');
    await pass(0);
    expect(started).toEqual([['a'], ['b'], ['c']]);
    add('d');
    await pass(1000);
    expect(started).toHaveLength(3);
  } finally {
    jest.useRealTimers();
  }
});

test.each<[string, number[], { size: number; count?: number }, number[][]]>([
  ['an empty list', [], { size: 5 }, []],
  [
    'items that fit together',
    [2, 3, 1, 4],
    { size: 5 },
    [
      [2, 3],
      [1, 4],
    ],
  ],
  ['an item above the size', [1, 9, 1], { size: 5 }, [[1], [9], [1]]],
  ['more items than the count', [0, 0, 0], { size: 5, count: 2 }, [[0, 0], [0]]],
])('%s: chunks keep the order', (_, sizes, limits, chunks) => {
  expect(chunkBySize(sizes, (size) => size, limits)).toEqual(chunks);
});

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
