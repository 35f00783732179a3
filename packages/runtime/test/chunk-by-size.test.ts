import { expect, test } from '@jest/globals';
import { chunkBySize } from '../src/concurrency/chunk-by-size.ts';

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
