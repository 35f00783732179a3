import { expect, test } from '@jest/globals';
import { createFairQueue } from '../src/concurrency/fair-queue.ts';

/** Queues work that ends when the test calls `endNext`. */
function started(maxConcurrent: number, maxPerKey?: number) {
  const runFairly = createFairQueue<string>(maxConcurrent, maxPerKey);
  const order: string[] = [];
  const ends: (() => void)[] = [];
  const add = (name: string, fails = false) =>
    runFairly(name[0] as string, async () => {
      order.push(name);
      await new Promise<void>((resolve) => ends.push(resolve));
      if (fails) throw new Error(name);
      return name;
    });
  const endNext = async () => {
    ends.shift()?.();
    await new Promise(setImmediate);
  };
  return { order, add, endNext };
}

test('keys are served round-robin, and the work of one key in FIFO order', async () => {
  const { order, add, endNext } = started(1);
  const results = Promise.all(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => add(name)));
  for (let ended = 0; ended < 7; ended += 1) await endNext();
  expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  expect(await results).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']);
});

test('no more work runs than allowed, and a failure frees its slot', async () => {
  const { order, add, endNext } = started(2);
  const failed = add('a1', true).catch((error: Error) => error.message);
  const others = Promise.all([add('a2'), add('b1')]);
  expect(order).toEqual(['a1', 'a2']);
  await endNext();
  expect(order).toEqual(['a1', 'a2', 'b1']);
  expect(await failed).toBe('a1');
  await endNext();
  await endNext();
  expect(await others).toEqual(['a2', 'b1']);
});

test('a key at its own limit leaves room for others', async () => {
  const { order, add, endNext } = started(2, 1);
  const results = Promise.all(['a1', 'a2', 'a3', 'b1', 'c1'].map((name) => add(name)));
  expect(order).toEqual(['a1', 'b1']);
  for (let ended = 0; ended < 5; ended += 1) await endNext();
  expect(order).toEqual(['a1', 'b1', 'a2', 'c1', 'a3']);
  expect(await results).toEqual(['a1', 'a2', 'a3', 'b1', 'c1']);
});

test('work that is aborted while it waits leaves the queue and never runs', async () => {
  const runFairly = createFairQueue<string>(1);
  const order: string[] = [];
  const running = Promise.withResolvers<void>();
  const add = (name: string, signal?: AbortSignal) =>
    runFairly(name[0] as string, async () => order.push(name), signal).catch((error: Error) => error.message);
  const first = runFairly('a', () => running.promise);
  const [aborted, kept] = [new AbortController(), new AbortController()];
  const results = Promise.all([
    add('a1', aborted.signal),
    add('a2', kept.signal),
    add('b1', aborted.signal),
    add('c1'),
  ]);
  aborted.abort(new Error('aborted'));
  expect(await add('a3', aborted.signal)).toBe('aborted');
  running.resolve();
  await first;
  expect(await results).toEqual(['aborted', 1, 'aborted', 2]);
  expect(order).toEqual(['a2', 'c1']);
  kept.abort();
  expect(await add('d1')).toBe(3);
});

test('work of preferred keys starts before all waiting work, and preempts no running work', async () => {
  const runFairly = createFairQueue<string>(1, 1, (key) => key.startsWith('!'));
  const order: string[] = [];
  const running = Promise.withResolvers<void>();
  const first = runFairly('a', () => running.promise);
  const add = (name: string) => runFairly(name.slice(0, -1), async () => order.push(name));
  const results = Promise.all(['a1', 'b1', 'b2', '!c1', '!c2', '!d1'].map(add));
  expect(order).toEqual([]);
  running.resolve();
  await Promise.all([first, results]);
  expect(order).toEqual(['!c1', '!d1', '!c2', 'a1', 'b1', 'b2']);
});
