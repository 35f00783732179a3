import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { limitConcurrency } from '../src/concurrency/fair-queue.ts';

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
