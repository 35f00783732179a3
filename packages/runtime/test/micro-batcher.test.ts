import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createMicroBatcher } from '../src/index.ts';

/** Groups of at most three, on two atOnce, each of which ends when it is told to. */
function startGroups() {
  const started: string[][] = [];
  const ends: (() => void)[] = [];
  const add = createMicroBatcher<string>({
    maxConcurrent: 2,
    take: (waiting) => Math.min(waiting.length, 3),
    work: (group) => {
      started.push(group);
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

test('what comes alone goes at once, what comes in one turn goes together', async () => {
  const { add, started, end } = startGroups();
  add('a');
  await turn();
  expect(started).toEqual([['a']]);
  await end(0);
  add('b');
  add('c');
  await turn();
  expect(started).toEqual([['a'], ['b', 'c']]);
});

test('what comes while a group is under way waits for it, unless it fills a group of its own', async () => {
  const { add, started, end } = startGroups();
  add('a');
  await turn();
  for (const one of ['b', 'c']) add(one);
  await turn();
  expect(started).toEqual([['a']]);
  for (const one of ['d', 'e']) add(one);
  await turn();
  expect(started).toEqual([['a'], ['b', 'c', 'd']]);
  for (const one of ['f', 'g', 'h', 'i']) add(one);
  await turn();
  expect(started).toHaveLength(2);
  await end(1);
  expect(started).toEqual([['a'], ['b', 'c', 'd'], ['e', 'f', 'g']]);
  await end(0);
  await end(2);
  expect(started.at(-1)).toEqual(['h', 'i']);
});
