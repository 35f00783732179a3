import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createFairBudget, createFairQueue, limitConcurrency } from '../src/concurrency/fair-sharing.ts';

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

test('runs up to the limit and the rest in FIFO order, also after a failure', async () => {
  const started: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const runLimited = limitConcurrency(2);
  const add = (name: string) =>
    runLimited(() => {
      started.push(name);
      return new Promise<string>((resolve, reject) => {
        ends.set(name, (error) => (error ? reject(error) : resolve(name)));
      });
    });

  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(add);
  await turn();
  expect(started).toEqual(['a', 'b']);
  ends.get('b')?.(new Error('broken'));
  await expect(b).rejects.toThrow('broken');
  expect(started).toEqual(['a', 'b', 'c']);
  const e = add('e');
  ends.get('a')?.();
  expect(await a).toBe('a');
  await turn();
  expect(started).toEqual(['a', 'b', 'c', 'd']);
  for (const name of ['c', 'd']) ends.get(name)?.();
  expect(await Promise.all([c, d])).toEqual(['c', 'd']);
  await turn();
  ends.get('e')?.();
  expect(await e).toBe('e');

  const all = ['f', 'g', 'h'].map(add);
  await turn();
  expect(started.slice(5)).toEqual(['f', 'g']);
  for (const name of ['f', 'g']) ends.get(name)?.();
  await turn();
  ends.get('h')?.();
  await Promise.all(all);
});
