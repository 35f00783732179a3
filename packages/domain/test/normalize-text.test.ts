import { describe, expect, test } from '@jest/globals';
import { normalizeOrder } from '../src/index.ts';
import { normalize } from './normalize-one-field.ts';

describe('a text', () => {
  test.each<[string, unknown, string | null, string[]]>([
    ['is trimmed', '\u00a0 Ring twice \n', 'Ring twice', []],
    ['that is blank is absent', ' \t\n', null, []],
    ['keeps newlines and tabs inside', 'Blue door\n\tleft', 'Blue door\n\tleft', []],
    ['keeps emoji and joiners', '👩‍🚒 می‌خواهم', '👩‍🚒 می‌خواهم', []],
    ['loses control characters', 'a\u0000b\u0007c\u0085d', 'abcd', ['characters_removed']],
    ['loses bidirectional controls', '\u202eabc\u2066d\u200f', 'abcd', ['characters_removed']],
    ['loses halves of surrogate pairs', 'a\ud83db\ude00\ud83d\0\ude00😀', 'ab😀', ['characters_removed']],
    ['has its line ends folded', 'a\r\nb\rc', 'a\nb\nc', ['characters_removed']],
    ['that is blank without them is absent', ' \u200f ', null, ['characters_removed']],
    ['given as a number is its decimal text', 4411, '4411', ['number_as_text']],
    ['given as a large number is written out', 1e21, '1000000000000000000000', ['inexact_number']],
    ['given as a small number is written out', 1e-7, '0.0000001', ['number_as_text']],
    ['given as an endless number is absent', Number.POSITIVE_INFINITY, null, ['out_of_range']],
    ['given as a list is absent', ['a'], null, ['not_text']],
  ])('%s', (_, sent, text, codes) => {
    expect(normalize({ delivery_instructions: sent })).toMatchObject({
      order: { delivery_instructions: text },
      warned: codes.map((code) => `/delivery_instructions ${code}`),
    });
  });

  test.each(['x', '😀', 'ع'])('of %s is cut after its limit of code points, not before', (character) => {
    expect(normalize({ area: character.repeat(200) })).toMatchObject({
      order: { area: character.repeat(200) },
      warned: [],
    });
    expect(normalize({ area: character.repeat(201) })).toMatchObject({
      order: { area: character.repeat(200) },
      warned: ['/area too_long'],
    });
  });

  test('that is cut ends without a blank', () => {
    expect(normalize({ area: `${'x'.repeat(199)} y` }).order.area).toBe('x'.repeat(199));
  });
});

describe('an order number', () => {
  test.each([' # 1 ', 'a\u200eb', '\u200e'])('is by default the source_order_id %p exactly as sent', (id) => {
    const { order, warnings } = normalizeOrder({ source_order_id: id });
    expect(order).toMatchObject({ source_order_id: id, order_number: id });
    expect(warnings).toEqual([]);
    expect(normalizeOrder({ source_order_id: id, order_number: id }).order.order_number).toBe(id);
  });

  test('is a text of its own when there is one', () => {
    expect(normalize({ order_number: ' #7 ' }).order).toMatchObject({ source_order_id: 'test-1', order_number: '#7' });
  });
});

describe('an address', () => {
  test.each([
    ['an object', { street: ' 14B ', building: 7, area: 'Deira' }, '14B, 7, Deira'],
    ['a list', ['14B', '', null, 'Deira'], '14B, Deira'],
    ['nested', { lines: ['Apt 1', { tower: 'Rose' }], is_default: true }, 'Apt 1, Rose'],
    ['of broken parts', ['\0', 'Deira\0'], 'Deira'],
  ])('given as %s is joined', (_, sent, address) => {
    const { order, warned } = normalize({ address: sent });
    expect(order.address).toBe(address);
    expect(warned).toContain('/address address_joined');
  });
});

describe('unknown members', () => {
  test('are pointed to, with ~ and / escaped', () => {
    const { warned } = normalize({ 'a/b~c': 1, customer: { vip: true } });
    expect(warned).toEqual(['/customer/vip unknown_field', '/a~1b~0c unknown_field']);
  });

  test('called __proto__ are members like others', () => {
    const { order, warned } = normalize(
      JSON.parse('{"__proto__": {"area": "x"}, "items": [{"__proto__": {"name": "y"}}]}'),
    );
    expect(order).toMatchObject({ area: null, items: [{ name: null }] });
    expect(warned).toEqual(['/items/0/__proto__ unknown_field', '/__proto__ unknown_field']);
  });

  test('are counted, not listed, past 1,000 warnings', () => {
    const members = Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`m${index}`, 1]));
    const { warnings } = normalizeOrder({ source_order_id: 'a', ...members });
    expect(warnings).toHaveLength(1_001);
    expect(warnings.at(-1)).toEqual({
      pointer: '',
      code: 'more_warnings',
      detail: '500 more warnings are not listed.',
    });
  });
});
