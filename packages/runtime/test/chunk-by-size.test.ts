import { expect, test } from '@jest/globals';
import { chunkBySize } from '../src/index.ts';

test.each<[string, number[], { size: number; count?: number }, number[][]]>([
  ['nothing', [], { size: 5 }, []],
  [
    'as many as fit',
    [2, 3, 1, 4],
    { size: 5 },
    [
      [2, 3],
      [1, 4],
    ],
  ],
  ['one that is too large alone', [1, 9, 1], { size: 5 }, [[1], [9], [1]]],
  ['no more than the count', [0, 0, 0], { size: 5, count: 2 }, [[0, 0], [0]]],
])('%s makes parts in their order', (_, sizes, limits, parts) => {
  expect(chunkBySize(sizes, (size) => size, limits)).toEqual(parts);
});
