import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Problem } from '../../src/problems.ts';
import { isCostly } from '../../src/sources/mapping.ts';
import { PRESETS } from '../../src/sources/presets.ts';
import { printMapping, readMapping } from '../../src/sources/read-mapping.ts';
import { readSettings } from '../../src/sources/read-settings.ts';
import { SOURCE_PRESETS, type SourcePreset } from '../../src/sources/settings.ts';
import { TEXT_FIELD_NAMES } from '../../src/text-fields.ts';
import { arbitraryMapping } from './arbitrary-mapping.ts';

const FIELDS = [
  ...['source_order_id', 'order_number', 'customer', 'address', 'emirate', 'area', 'items', 'total', 'currency'],
  ...TEXT_FIELD_NAMES,
];

/** The pointers and codes of the errors with which something is rejected. */
function errorsIn(read: () => unknown): string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return (error.errors ?? []).map(({ pointer, code }) => `${pointer} ${code}`);
  }
}
const errorsOf = (input: unknown) => errorsIn(() => readMapping(input));

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

test('without a choice, the settings are those of the preset, and they are valid', () => {
  for (const preset of SOURCE_PRESETS) expect(readSettings(preset, undefined)).toBe(PRESETS[preset].settings);
  expect(readSettings('custom', PRESETS.shopify.settings)).toEqual(PRESETS.shopify.settings);
  expect(readSettings('custom', PRESETS.woocommerce.settings)).toEqual(PRESETS.woocommerce.settings);
});

test('all settings of a preset can be chosen for a custom source', () => {
  for (const preset of ['salla', 'zid'] as const)
    expect(readSettings('custom', PRESETS[preset].settings)).toEqual(PRESETS[preset].settings);
});

test('names of headers become lower case, as Node has them', () => {
  const signature = { scheme: 'token', header: 'X-Token' };
  const chosen = { signature, topic: { header: 'X-Topic' }, topics: { order: ['a'] }, deliveryId: { pointer: '/id' } };
  expect(readSettings('custom', chosen)).toEqual({
    signature: { scheme: 'token', header: 'x-token' },
    topic: { header: 'x-topic' },
    topics: { order: ['a'], cancellation: [] },
    deliveryId: { pointer: '/id' },
  });
});

test('of Standard Webhooks, the topics can be chosen', () => {
  const topics = { order: ['sale'], cancellation: ['sale.void'] };
  expect(readSettings('standard-webhooks', { topics })).toEqual({ ...PRESETS['standard-webhooks'].settings, topics });
});

const token = { scheme: 'token', header: 'x-token' };

test('values may be null, or absent', () => {
  const chosen = {
    signature: token,
    ignoredIf: { pointer: '/ordered_at', values: [null] },
    finishedIf: { pointer: '/fulfilled_at' },
  };
  expect(readSettings('custom', chosen)).toEqual(chosen);
});

test.each<[SourcePreset, unknown, string[]]>([
  ['shopify', { signature: token }, ['/signature unknown_field']],
  ['woocommerce', { topics: { order: [] } }, ['/topics unknown_field']],
  ['standard-webhooks', { topic: { pointer: '/t' } }, ['/topic unknown_field']],
  ['custom', null, [' invalid']],
  ['custom', {}, ['/signature required']],
  ['custom', { signature: { scheme: 'none' } }, ['/signature/scheme invalid']],
  ['custom', { signature: { ...token, algorithm: 'sha256' } }, ['/signature/algorithm unknown_field']],
  ['custom', { signature: { ...token, header: 'x token' } }, ['/signature/header invalid']],
  [
    'custom',
    { signature: { scheme: 'hmac', header: 'x', algorithm: 'md5' } },
    ['/signature/algorithm invalid', '/signature/encoding required'],
  ],
  ['custom', { signature: token, topic: { header: 'x' } }, [' invalid']],
  ['custom', { signature: token, deliveryId: { header: 'x', pointer: '/x' } }, ['/deliveryId invalid']],
  [
    'custom',
    { signature: token, cancelledIf: { pointer: 'status', values: [] } },
    ['/cancelledIf/pointer invalid', '/cancelledIf/values invalid'],
  ],
  ['salla', { topics: { order: [] } }, ['/topics unknown_field']],
  ['zid', { signature: token }, ['/signature unknown_field']],
  ['custom', { signature: { scheme: 'basic', header: 'x' } }, ['/signature/header unknown_field']],
  [
    'custom',
    { signature: token, finishedIf: { pointer: ['/a', 'b'], values: ['c'] } },
    ['/finishedIf/pointer/1 invalid'],
  ],
  ['custom', { signature: token, ignoredIf: { pointer: [], values: ['c'] } }, ['/ignoredIf/pointer invalid']],
  ['custom', { signature: token, topic: { header: 'x' }, topics: { order: ['a\0'] } }, ['/topics/order/0 invalid']],
  [
    'custom',
    JSON.parse('{"signature":{"scheme":"token","header":"x","__proto__":{}}}'),
    ['/signature/__proto__ unknown_field'],
  ],
])('%s refuses %j', (preset, input, errors) => {
  expect(errorsIn(() => readSettings(preset, input))).toEqual(errors);
});
