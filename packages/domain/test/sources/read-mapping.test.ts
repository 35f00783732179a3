import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Problem } from '../../src/problems.ts';
import { isCostly } from '../../src/sources/mapping.ts';
import { PRESETS } from '../../src/sources/presets.ts';
import { printMapping, readMapping } from '../../src/sources/read-mapping.ts';
import { TEXT_FIELD_NAMES } from '../../src/text-fields.ts';
import { arbitraryMapping } from './arbitrary-mapping.ts';

const FIELDS = [
  ...['source_order_id', 'order_number', 'customer', 'address', 'emirate', 'area', 'items', 'total', 'currency'],
  ...TEXT_FIELD_NAMES,
];

/** The pointers and codes of the errors. */
function errorsOf(input: unknown): string[] {
  try {
    readMapping(input);
    return [];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return (error.errors ?? []).map(({ pointer, code }) => `${pointer} ${code}`);
  }
}

test('it accepts what it prints', () => {
  fc.assert(
    fc.property(arbitraryMapping, (mapping) => {
      const read = readMapping(mapping);
      expect(read).toEqual(mapping);
      expect(readMapping(JSON.parse(printMapping(read)))).toEqual(mapping);
    }),
    { numRuns: 1_000 },
  );
  for (const { mapping } of Object.values(PRESETS))
    expect(readMapping(JSON.parse(printMapping(mapping)))).toEqual(mapping);
});

test('a mapping is printed in the sequence of the documents', () => {
  const { shopify } = PRESETS;
  const shuffled = Object.fromEntries(Object.entries(shopify.mapping).reverse());
  expect(printMapping(shuffled as typeof shopify.mapping)).toBe(printMapping(shopify.mapping));
  expect(Object.keys(JSON.parse(printMapping(shopify.mapping)))).toEqual(FIELDS);
});

test('anything else is refused with a pointer', () => {
  fc.assert(
    fc.property(
      fc.json().map((text) => JSON.parse(text)),
      (input) => {
        for (const pointer of errorsOf(input)) expect(pointer).toMatch(/^(\/.*)? \w+$/s);
        expect(errorsOf(input)).not.toEqual([]);
      },
    ),
    { numRuns: 500 },
  );
});

const valid = { source_order_id: '/id' };
const many = (length: number) => Array.from({ length }, (_, at) => `/x${at}`);
test.each<[string, unknown, string[]]>([
  ['null', null, [' not_an_object']],
  ['a list', [], [' not_an_object']],
  ['no id', { total: '/t' }, ['/source_order_id required']],
  ['an unknown field', { ...valid, adress: '/a' }, ['/adress unknown_field']],
  ['an unknown field of the customer', { ...valid, customer: { mobile: '/a' } }, ['/customer/mobile unknown_field']],
  ['no pointer', { source_order_id: 'id' }, ['/source_order_id not_a_pointer']],
  ['the whole document', { source_order_id: '' }, ['/source_order_id not_a_pointer']],
  ['a bad escape', { source_order_id: '/a~2' }, ['/source_order_id not_a_pointer']],
  ['a long pointer', { source_order_id: `/${'a'.repeat(255)}` }, ['/source_order_id not_a_pointer']],
  ['a value of another type', { ...valid, total: 5 }, ['/total not_a_value']],
  ['a join and a constant', { ...valid, total: { join: ['/a'], constant: 1 } }, ['/total not_a_value']],
  ['U+0000', { ...valid, currency: { constant: 'A\0' } }, ['/currency not_a_value']],
  ['a lone surrogate', { source_order_id: '/\ud83d' }, ['/source_order_id not_a_pointer']],
  ['a number that JSON cannot print', { ...valid, total: { constant: JSON.parse('1e400') } }, ['/total not_a_value']],
  ['__proto__', JSON.parse('{"source_order_id":"/id","__proto__":{"customer":5}}'), ['/__proto__ unknown_field']],
  [
    '__proto__ inside',
    JSON.parse('{"source_order_id":"/id","address":{"join":["/a"],"__proto__":{}}}'),
    ['/address/__proto__ unknown_field'],
  ],
  ['conditions that are no object', { ...valid, total: { constant: 1, if: ['/a'] } }, ['/total not_a_value']],
  ['a condition without values', { ...valid, total: { constant: 1, if: { '/a': [] } } }, ['/total not_a_value']],
  ['a condition of no pointer', { ...valid, total: { constant: 1, if: { a: [1] } } }, ['/total not_a_value']],
  ['a value that is no scalar', { ...valid, total: { constant: 1, if: { '/a': [{}] } } }, ['/total not_a_value']],
  [
    'six conditions',
    { ...valid, total: { constant: 1, if: Object.fromEntries(many(6).map((at) => [at, [1]])) } },
    ['/total not_a_value'],
  ],
  ['something found without conditions', { ...valid, total: { find: '/l', value: '/v' } }, ['/total not_a_value']],
  ['items that are a text', { ...valid, items: '/items' }, ['/items not_items']],
  ['no items', { ...valid, items: [] }, ['/items not_items']],
  ['items without a list', { ...valid, items: { name: '/n' } }, ['/items/list required']],
  ['an empty item', { ...valid, items: [{ sku: '/s' }, {}] }, ['/items/1 empty']],
  ['a numbered item with a list', { ...valid, items: [{ list: '/l', name: '/n' }] }, ['/items/0/list unknown_field']],
  ['101 numbered items', { ...valid, items: Array(101).fill({ name: '/n' }) }, ['/items not_items']],
  [
    'too many pointers in an item',
    { ...valid, items: { list: '/l', name: { join: Array(4).fill(many(8)) } } },
    ['/items too_many_pointers'],
  ],
  [
    'too many constants in an item',
    { ...valid, items: { list: '/l', name: { join: Array(4).fill(Array(8).fill({ constant: ' ' })) } } },
    ['/items too_many_pointers'],
  ],
  [
    'too many searches of a list',
    { ...valid, items: many(51).map((at) => ({ name: { find: '/l', where: { [at]: [1] }, value: '/v' } })) },
    [' too_many_pointers'],
  ],
  [
    'too many details of a list',
    { ...valid, details: many(26).map((at) => ({ each: '/l', label: '/label', value: at })) },
    [' too_many_pointers'],
  ],
  ['too many pointers', { source_order_id: Array(6).fill({ join: Array(10).fill(many(10)) }) }, [' too_many_pointers']],
])('%s is refused', (_, input, errors) => {
  expect(errorsOf(input)).toEqual(errors);
});

test('at most 20 errors are listed', () => {
  expect(errorsOf(Object.fromEntries(many(30).map((name) => [name, 1])))).toHaveLength(20);
});

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
