import { expect, test } from '@jest/globals';
import { createFairQueue } from '../src/index.ts';

/** Queues work under keys, each of which ends when the test says so. */
function started(maxConcurrent: number) {
  const inTurn = createFairQueue<string>(maxConcurrent);
  const order: string[] = [];
  const ends: (() => void)[] = [];
  const add = (name: string, fails = false) =>
    inTurn(name[0] as string, async () => {
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

test('keys are served in rotation, and the work of one key in its order', async () => {
  const { order, add, endNext } = started(1);
  const results = Promise.all(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => add(name)));
  for (let ended = 0; ended < 7; ended += 1) await endNext();
  expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  expect(await results).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']);
});

test('no more runs at once than it allows, and a failure makes room', async () => {
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
