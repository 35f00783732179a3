import { expect, test } from '@jest/globals';
import { isCostly } from '../../src/sources/mapping.ts';
import { PRESETS } from '../../src/sources/presets.ts';

test('no mapping of a preset is costly', () => {
  expect(Object.values(PRESETS).filter(({ mapping }) => isCostly(mapping))).toEqual([]);
});

const id = { source_order_id: '/id' };
test.each([
  [
    'many searches',
    { ...id, area: Array.from({ length: 8 }, () => ({ find: '/l', where: { '/a': [1], '/b': [1] }, value: '/v' })) },
  ],
  [
    'many details of a list',
    { ...id, details: Array.from({ length: 8 }, () => ({ each: '/l', label: '/a', value: '/b' })) },
  ],
  [
    'long constants in each item',
    { ...id, items: { list: '/l', name: { join: [{ constant: 'x'.repeat(255) }, { constant: 'x'.repeat(255) }] } } },
  ],
])('%s are', (_, mapping) => {
  expect(isCostly(mapping)).toBe(true);
});
