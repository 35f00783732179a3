import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MAX_ITEMS } from '../../src/interface-limits.ts';
import { normalizeOrder } from '../../src/normalize-order.ts';
import { type MappedPayload, mapOrder } from '../../src/sources/map-order.ts';
import type { OrderMapping } from '../../src/sources/mapping.ts';
import { PRESETS } from '../../src/sources/presets.ts';
import { parseDelivery } from '../../src/sources/read-delivery.ts';
import { TEXT_FIELD_NAMES } from '../../src/text-fields.ts';
import { arbitraryDocument, arbitraryMapping } from './arbitrary-mapping.ts';

const RUNS = { numRuns: 2_000 };
const FIELDS = [
  ...['source_order_id', 'order_number', 'customer', 'address', 'emirate', 'area', 'items', 'total', 'currency'],
  ...TEXT_FIELD_NAMES,
];
const id = { source_order_id: '/id' };

/** Names of members that an order does not have. */
function strangers({ customer = {}, items = [], ...fields }: MappedPayload): string[] {
  const inside = (value: unknown, names: string[]) => Object.keys(value as object).filter((n) => !names.includes(n));
  return [
    ...inside(fields, FIELDS),
    ...inside(customer, ['name', 'phone', 'email', 'id']),
    ...(items as object[]).flatMap((item) => inside(item, ['name', 'quantity', 'sku'])),
  ];
}

describe('any document and any mapping', () => {
  test('become a payload of known fields, which normalization reads without unknown members', () => {
    fc.assert(
      fc.property(arbitraryDocument, arbitraryMapping, (document, mapping) => {
        const payload = mapOrder(document, mapping);
        expect(strangers(payload)).toEqual([]);
        const text = JSON.stringify(payload);
        expect(JSON.stringify(JSON.parse(text))).toBe(text);
        const { warnings } = normalizeOrder(payload);
        expect(warnings.map(({ code }) => code)).not.toContain('unknown_fields');
        expect(warnings.map(({ code }) => code)).not.toContain('not_an_item');
      }),
      RUNS,
    );
  });

  test('any document is mapped by each preset', () => {
    for (const { mapping } of Object.values(PRESETS))
      fc.assert(
        fc.property(arbitraryDocument, (document) => strangers(mapOrder(document, mapping)).length === 0),
        { numRuns: 300 },
      );
  });
});

describe('the entries of a list in an item', () => {
  const nameOf = (preset: keyof typeof PRESETS, item: object) => {
    const { mapping } = PRESETS[preset];
    const { list } = mapping.items as { list: string | string[] };
    const member = ([list].flat()[0] as string).split('/').at(-1) as string;
    const order = { id: 1, [member]: [item] };
    const [mapped] = mapOrder(preset === 'salla' ? { data: order } : order, mapping).items as { name: string }[];
    return mapped?.name;
  };

  test('are options, and texts for a cake', () => {
    const properties = [
      { name: 'Writing', value: 'Happy birthday &amp; joy' },
      { name: '_bundle', value: 'b-17' },
      { name: 'Candles', value: 3 },
      { name: 'Photo', value: '' },
    ];
    expect(nameOf('shopify', { name: 'Cake - Large', properties })).toBe(
      'Cake - Large, Writing: Happy birthday & joy, Candles: 3',
    );
    const meta_data = [
      { key: 'pa_color', value: 'blue', display_key: 'Colour', display_value: 'Blue' },
      { key: '_reduced_stock', value: '1', display_key: '_reduced_stock', display_value: '1' },
      { key: 'Gift box', value: 'Yes', display_key: 'Gift box', display_value: 'Yes' },
      { key: 'addons', value: [{ name: 'x' }], display_key: 'addons', display_value: [{ name: 'x' }] },
    ];
    expect(nameOf('woocommerce', { name: 'Hoodie - Blue, L', meta_data })).toBe('Hoodie - Blue, L, Gift box: Yes');
    expect(nameOf('woocommerce', { name: 'Box 1', meta_data: [{ key: 'Size', value: '1' }] })).toBe('Box 1, Size: 1');
    const options = [
      { name: 'الحجم', type: 'radio', value: { id: 1, name: 'كبير' } },
      { name: 'العبارة', type: 'text', value: 'كل عام وأنتم بخير' },
    ];
    expect(nameOf('salla', { name: 'كيكة', options, notes: 'بدون مكسرات' })).toBe(
      'كيكة, الحجم: كبير, العبارة: كل عام وأنتم بخير, بدون مكسرات',
    );
    expect(
      nameOf('zid', {
        name: 'Cup',
        options: [{ name: 'Colour', value: 'Red' }],
        custom_fields: [{ label: 'Name', value: 'Ali' }],
      }),
    ).toBe('Cup, Colour: Red, Name: Ali');
  });

  test('are left out by conditions, and without a name of the item, they are its name', () => {
    const mapping = (value: object): OrderMapping => ({
      ...id,
      items: { list: '/l', name: { join: ['/n', value as never] } },
    });
    const item = {
      o: [
        { k: 'a', v: { t: 'x' } },
        { k: 'b', v: 'y' },
      ],
    };
    const map = (value: object) => mapOrder({ id: 1, l: [item] }, mapping(value)).items;
    expect(map({ each: '/o', value: ['/v/t', '/v'] })).toEqual([{ name: 'x y' }]);
    expect(map({ each: '/o', label: '/k', value: '/v', except: { '/k': ['B'] } })).toEqual([{}]);
    expect(map({ each: '/none', value: '/v' })).toEqual([{}]);
  });
});

describe('the size of a payload', () => {
  const long = 'x'.repeat(1_000_000);
  const everywhere: OrderMapping = {
    source_order_id: '/t',
    order_number: '/t',
    customer: { name: '/t', phone: '/t', email: '/t', id: '/t' },
    address: { join: Array(10).fill('/t') },
    emirate: '/t',
    area: '/t',
    total: '/t',
    currency: '/t',
    delivery_instructions: { join: Array(10).fill('/t') },
  };

  test('is bounded, though each field has the same long value', () => {
    expect(JSON.stringify(mapOrder({ t: long }, everywhere)).length).toBeLessThan(60_000);
  });

  test('is bounded for numbered items', () => {
    const item = { name: '/t', quantity: '/t', sku: '/t' };
    const payload = mapOrder({ t: long }, { ...id, items: Array(100).fill(item) });
    expect(JSON.stringify(payload).length).toBeLessThan(400_000);
  });

  test('is bounded for listed items', () => {
    const { items } = mapOrder(
      { l: Array(5_000).fill({ t: long }) },
      { ...id, items: { list: '/l', name: { join: ['/t', '/t'] }, sku: '/t' } },
    );
    expect(items).toHaveLength(MAX_ITEMS + 1);
    expect(JSON.stringify(items).length).toBeLessThan(2_300_000);
  });

  test.each(['x', '😀'])('still lets normalization warn of a text of %s that is cut', (character) => {
    const cutAt = (limit: number, pointer: string, mapping: OrderMapping) => {
      for (const [length, isCut] of [
        [limit, false],
        [limit + 1, true],
        [limit * 5, true],
      ] as const) {
        const document = { id: '1', t: character.repeat(length), l: [{ t: character.repeat(length) }] };
        const { warnings } = normalizeOrder(mapOrder(document, mapping));
        expect(warnings.filter((warning) => warning.pointer === pointer).map(({ code }) => code)).toEqual(
          isCut ? ['too_long'] : [],
        );
      }
    };
    cutAt(2_000, '/delivery_instructions', { ...id, delivery_instructions: '/t' });
    cutAt(500, '/items/0/name', { ...id, items: { list: '/l', name: '/t' } });
    cutAt(500, '/items/0/name', { ...id, items: [{ name: '/t' }] });
  });
});

test('the values that are read grow linearly with the document', () => {
  const readsOf = (length: number) => {
    let reads = 0;
    const counted = (target: object) =>
      new Proxy(target, {
        get(object, name) {
          reads += 1;
          return Reflect.get(object, name);
        },
      });
    const items = Array.from({ length }, (_, at) => counted({ name: `n${at}`, zero: at % 2 }));
    mapOrder({ id: '1', l: items }, { ...id, items: { list: '/l', name: ['/x', '/name'], omit_if_zero: '/zero' } });
    return reads;
  };
  expect(readsOf(800) / readsOf(400)).toBeCloseTo(2, 1);
  // No further ones are read after those that an order may have.
  expect(readsOf(64_000)).toBe(readsOf(4_000));
});

test('a list is read once, however many values search it', () => {
  let reads = 0;
  const list = new Proxy({ a: {}, b: {} } as object, {
    ownKeys(target) {
      reads += 1;
      return Reflect.ownKeys(target);
    },
  });
  const readsBy = (count: number) => {
    reads = 0;
    const name = (at: number) => ({ find: '/l', where: { '/x': [at] }, value: '/y' });
    mapOrder({ id: '1', l: list }, { ...id, items: Array.from({ length: count }, (_, at) => ({ name: name(at) })) });
    return reads;
  };
  expect(readsBy(100)).toBe(readsBy(1));
});

test('a value of the entries of a list is read once, however many values search for it', () => {
  let reads = 0;
  const entry = () =>
    Object.defineProperty({}, 'x', {
      enumerable: true,
      get() {
        reads += 1;
        return 'none of these';
      },
    });
  const document = () => ({ id: '1', l: Array.from({ length: 1_000 }, entry) });
  const name = (at: number) => ({ find: '/l', where: { '/x': [at] }, value: '/y' });
  mapOrder(document(), { ...id, items: Array.from({ length: 50 }, (_, at) => ({ name: name(at) })) });
  expect(reads).toBe(1_000);
});

test('of a list of details 1,000 entries are read, for each mapping that names it', () => {
  const details = [{ each: '/l', label: '/name', value: '/value' }];
  const entry = { name: 'Gift', value: 'yes' };
  const detailsOf = (empty: number) => mapOrder({ id: '1', l: [...Array(empty).fill({}), entry] }, { ...id, details });
  expect(detailsOf(999)).toMatchObject({ details: [{ label: 'Gift', value: 'yes' }] });
  expect(detailsOf(1_000)).not.toHaveProperty('details');
});

describe('numbers', () => {
  test('are exact, however long', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), fc.nat(), (whole, fraction) => {
        for (const number of [`${whole}`, `${whole}.${fraction}5`]) {
          const document = parseDelivery(Buffer.from(`{"id": ${number}, "a": [${number}]}`));
          const payload = mapOrder(document, { source_order_id: '/id', order_number: '/a/0' });
          // 0 is no id.
          expect(payload).toEqual({ ...(number !== '0' && { source_order_id: number }), order_number: number });
        }
      }),
      RUNS,
    );
  });

  test.each([
    ['1e400', '1e400'],
    ['1E21', '1000000000000000000000'],
    ['1e-7', '0.0000001'],
    ['149.50', '149.5'],
    ['0.30000000000000004', '0.30000000000000004'],
    ['-0', '0'],
  ])('%s becomes %s', (number, text) => {
    const document = parseDelivery(Buffer.from(`{"number": ${number}}`));
    expect(mapOrder(document, { source_order_id: '/id', order_number: '/number' })).toEqual({ order_number: text });
  });

  test('that are whole quantities stay numbers, texts of digits become numbers, and amounts are texts', () => {
    const quantities = [2, '2', ' 3 ', '0012', 'two', '1.5', 1.5, '1234567890'];
    const { items } = mapOrder({ l: quantities.map((q) => ({ q })) }, { ...id, items: { list: '/l', quantity: '/q' } });
    expect(items).toEqual([2, 2, 3, 12, 'two', '1.5', '1.5', '1234567890'].map((quantity) => ({ quantity })));
  });
});

test('an object without any field of an item is no item', () => {
  const items = { list: ['/first', '/second'], name: '/name' };
  const second = { name: 'Soup', count: 1 };
  expect(mapOrder({ first: { count: 2 }, second }, { ...id, items }).items).toEqual([{ name: 'Soup' }]);
  expect(mapOrder({ first: { count: 2 }, second: {} }, { ...id, items })).not.toHaveProperty('items');
});

describe('pointers', () => {
  test.each(['/__proto__', '/constructor', '/toString', '/l/length', '/l/-', '/l/01', '/l/1e0', '/t/length', '/t/0'])(
    '%s leads to nothing that the document does not have',
    (pointer) => {
      expect(mapOrder({ l: ['x', 'y'], t: 'text' }, { source_order_id: pointer })).toEqual({});
    },
  );

  test('lead to own members of any name', () => {
    const document = JSON.parse('{"__proto__": "p", "a/b": {"m~n": ["x", "y"]}, "": "e", "constructor": "c"}');
    const mapping = {
      source_order_id: '/__proto__',
      order_number: '/a~1b/m~0n/1',
      address: '/',
      area: '/constructor',
    };
    expect(mapOrder(document, mapping)).toEqual({
      source_order_id: 'p',
      order_number: 'y',
      address: 'e',
      area: 'c',
    });
  });
});

describe('numbered items', () => {
  const items = [1, 2, 3].map((n) => ({ name: `/Item ${n}`, quantity: [`/Qty ${n}`, { constant: 1 }] }));

  test('have pointers from the top; those without a value are left out, whatever their constants', () => {
    const row = { id: '1', 'Item 1': 'Soup', 'Qty 1': '2', 'Item 2': ' ', 'Item 3': 'Bread' };
    expect(mapOrder(row, { ...id, items })).toEqual({
      source_order_id: '1',
      items: [
        { name: 'Soup', quantity: 2 },
        { name: 'Bread', quantity: 1 },
      ],
    });
  });

  test('are absent if none has a value', () => {
    expect(mapOrder({ id: '1' }, { ...id, items })).toEqual({ source_order_id: '1' });
  });
});
