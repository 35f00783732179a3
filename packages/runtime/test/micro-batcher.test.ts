import { setImmediate as turn } from 'node:timers/promises';
import { expect, jest, test } from '@jest/globals';
import { createMicroBatcher } from '../src/concurrency/micro-batcher.ts';

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
  const end = async (index: number) => {
    ends[index]?.();
    await turn();
    await turn();
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
