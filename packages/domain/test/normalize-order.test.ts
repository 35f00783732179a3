import { describe, expect, test } from '@jest/globals';
import { normalizeOrder } from '../src/normalize-order.ts';
import { memberAt, toPayload } from './read-tables.ts';

/** Normalizes a payload of a few fields. @returns the order, and its warnings as "/pointer code". */
function normalize(fields: Record<string, unknown>) {
  const { order, warnings } = normalizeOrder({ source_order_id: 'test-1', ...fields });
  return { order, warned: warnings.map(({ pointer, code }) => `${pointer} ${code}`) };
}

describe('a string that is too long', () => {
  test.each(['x', '😀', 'ع'])('of %s is cut exactly at its limit of code points', (character) => {
    expect(normalize({ area: character.repeat(200) })).toMatchObject({
      order: { area: character.repeat(200) },
      warned: [],
    });
    expect(normalize({ area: character.repeat(201) })).toMatchObject({
      order: { area: character.repeat(200) },
      warned: ['/area too_long'],
    });
  });

  test.each([
    ['a letter and its accent', 'e\u0301'],
    ['an Arabic letter and its vowel sign', 'بَ'],
    ['a flag', '🇦🇪'],
    ['a family', '👩‍👩‍👧‍👦'],
    ['a waving hand with its colour', '👋🏽'],
    ['a syllable of Devanagari', 'क्षि'],
  ])('is never cut inside %s', (_, character) => {
    for (let before = 199; before > 190; before--) {
      const { order } = normalize({ area: 'x'.repeat(before) + character.repeat(20) });
      const kept = order.area?.replace(/^x+/, '') ?? '';
      expect([before, kept.replaceAll(character, '')]).toEqual([before, '']);
      expect([...(order.area ?? '')].length).toBeLessThanOrEqual(200);
    }
  });

  test('is cut between code points if one character is longer than the limit', () => {
    expect(normalize({ area: `e${'\u0301'.repeat(300)}` }).order.area).toBe(`e${'\u0301'.repeat(199)}`);
  });

  test('does not end with a space', () => {
    expect(normalize({ area: `${'x'.repeat(199)} y` }).order.area).toBe('x'.repeat(199));
  });
});

test.each([
  ['order_number', 255],
  ['customer.name', 200],
  ['customer.email', 254],
  ['customer.phone', 64],
  ['customer.id', 255],
  ['address', 1_000],
  ['emirate', 100],
  ['area', 200],
  ['items.0.name', 500],
  ['items.0.sku', 255],
  ['currency', 16],
  ['delivery_instructions', 2_000],
])('%s keeps %d characters, and a longer value gets a warning', (path, limit) => {
  const read = (length: number) => {
    const { order, warnings } = normalizeOrder(toPayload({ [path]: 'x'.repeat(length) }));
    const details = warnings.filter(({ code }) => code === 'too_long').map(({ detail }) => detail);
    return { kept: String(memberAt(order, path)).length, details };
  };
  expect(read(limit)).toEqual({ kept: limit, details: [] });
  const details = [`Longer than ${limit} characters; the end was cut off.`];
  expect(read(limit + 1)).toEqual({ kept: limit, details });
});

test('a value whose kept part is invisible becomes null', () => {
  const { order, warned } = normalize({ area: `${'\u200b'.repeat(3_000)}a` });
  expect(order.area).toBeNull();
  expect(warned).toEqual(['/area too_long']);
  // The joiner at the start stands alone, and the rest is one character that is too long.
  const joined = '\u200d😀'.repeat(400);
  expect(normalize({ customer: { phone: joined } })).toMatchObject({
    order: { customer: { phone: null } },
    warned: ['/customer/phone too_long'],
  });
  expect(normalize({ customer: joined }).order.customer.name).toBeNull();
});

test('a phone number behind a long text is found', () => {
  const phone = `${'call the guard first, '.repeat(5)}050 123 4567`;
  expect(normalize({ customer: { phone } })).toMatchObject({
    order: { customer: { phone: '+971501234567' } },
    warned: ['/customer/phone phone_with_text'],
  });
});

test('a phone number in a customer string is found behind the limit of the name', () => {
  const { customer } = normalize({ customer: `${'x'.repeat(195)} 0501234567` }).order;
  expect(customer).toMatchObject({ name: `${'x'.repeat(195)} 0501`, phone: '+971501234567' });
});

test('a number in scientific notation that is longer than a phone is cut too', () => {
  const { order, warned } = normalize({ customer: { phone: `9.${'7'.repeat(80)}E99` } });
  expect(order.customer.phone).toHaveLength(64);
  expect(warned).toEqual(['/customer/phone phone_digits_lost', '/customer/phone too_long']);
});

test('a long text without a phone number is cut', () => {
  const { order, warned } = normalize({ customer: { phone: 'ask the guard '.repeat(10) } });
  expect(order.customer.phone).toBe('ask the guard '.repeat(10).slice(0, 64).trim());
  expect(warned).toEqual(['/customer/phone too_long', '/customer/phone phone_unreadable']);
});

test.each([' # 1 ', 'a\u200eb', '\u200e'])(
  'the order number defaults to the source_order_id %p exactly as sent',
  (id) => {
    const { order, warnings } = normalizeOrder({ source_order_id: id });
    expect(order).toMatchObject({ source_order_id: id, order_number: id });
    expect(warnings).toEqual([]);
    expect(normalizeOrder({ source_order_id: id, order_number: id }).order.order_number).toBe(id);
  },
);

describe('an unknown member', () => {
  test('is named by its pointer, with ~ and / escaped', () => {
    const { warned } = normalize({ 'a/b~c': 1, customer: { vip: true } });
    expect(warned).toEqual(['/customer/vip unknown_field', '/a~1b~0c unknown_field']);
  });

  test.each(['x'.repeat(256), 'a\0b', 'a\ud83d'])(
    'is named by its object if its own name cannot be repeated',
    (name) => {
      const { warnings } = normalizeOrder({ source_order_id: 'a', customer: { [name]: 1 } });
      const detail = 'Has a member that is not a field of this interface; kept in the raw payload only.';
      expect(warnings).toEqual([{ pointer: '/customer', code: 'unknown_field', detail }]);
    },
  );

  test('is named in the warning if its name has up to 255 characters', () => {
    expect(normalize({ ['x'.repeat(255)]: 1 }).warned).toEqual([`/${'x'.repeat(255)} unknown_field`]);
  });

  test('may be called __proto__', () => {
    const { order, warned } = normalize(
      JSON.parse('{"__proto__": {"area": "x"}, "items": [{"__proto__": {"name": "y"}}]}'),
    );
    expect(order).toMatchObject({ area: null, items: [{ name: null }] });
    expect(warned).toEqual(['/items/0/__proto__ unknown_field', '/__proto__ unknown_field']);
  });

  test('has a warning in the first ten items that have it, and is counted in the others', () => {
    const items = Array.from({ length: 30 }, (_, index) => ({ price: 1, ...(index >= 25 && { note: 'x' }) }));
    const { warnings } = normalizeOrder({ source_order_id: 'a', items });
    const prices = Array.from({ length: 10 }, (_, index) => `/items/${index}/price unknown_field`);
    const notes = [25, 26, 27, 28, 29].map((index) => `/items/${index}/note unknown_field`);
    expect(warnings.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
      ...prices,
      ...notes,
      '/items unknown_field',
    ]);
    expect(warnings.at(-1)?.detail).toBe(
      '20 more members of items are not fields of this interface; kept in the raw payload only.',
    );
  });

  test('is counted but not listed after 1,000 warnings', () => {
    const members = Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`m${index}`, 1]));
    const { warnings } = normalizeOrder({ source_order_id: 'a', ...members });
    expect(warnings).toHaveLength(1_001);
    expect(warnings.at(-1)).toEqual({
      pointer: '',
      code: 'more_warnings',
      detail: '500 more problems are not listed; they were corrected too.',
    });
  });
});

describe('a list of more than 1,000 items', () => {
  const items = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `item ${index}` }));
  const TOO_MANY = {
    pointer: '/items',
    code: 'too_many_items',
    detail: 'More than 1,000 items, 7 too many; the first 1,000 are kept, the others in the raw payload only.',
  };

  test('is read up to the 1,000th, and a warning counts the others', () => {
    expect(normalize({ items: items(1_000) }).warned).toEqual([]);
    const { order, warnings } = normalizeOrder({ source_order_id: 'a', items: items(1_007) });
    expect(order.items).toEqual(items(1_000).map((item) => ({ ...item, quantity: null, sku: null })));
    expect(warnings).toEqual([TOO_MANY]);
  });

  test('is not read behind the 1,000th', () => {
    let reads = 0;
    const entry = new Proxy({}, { ownKeys: () => [String(++reads)].slice(1), get: () => void reads++ });
    const list = [...items(1_000), ...Array(7).fill(entry)];
    expect(normalizeOrder({ source_order_id: 'a', items: list }).warnings).toEqual([TOO_MANY]);
    expect(reads).toBe(0);
  });

  test('counts invalid entries too', () => {
    const { order, warned } = normalize({ items: [7, ...items(1_000)] });
    expect(order.items).toHaveLength(999);
    expect(warned).toEqual(['/items too_many_items', '/items/0 not_an_item']);
  });

  test('gets its warning even after 1,000 other warnings', () => {
    const customer = Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`m${index}`, 1]));
    const { warned } = normalize({ customer, items: items(1_007) });
    expect(warned.slice(1_000)).toEqual(['/items too_many_items', ' more_warnings']);
  });
});

test('no warning repeats personal data', () => {
  const secret = 'Secret0501234567';
  const { warnings } = normalizeOrder({
    source_order_id: 'test-1',
    customer: { name: `${secret}\0`, phone: secret, email: secret, id: `${secret}\0` },
    address: { street: secret },
    emirate: secret,
    items: secret,
    delivery_instructions: secret.repeat(200),
  });
  expect(warnings.length).toBeGreaterThanOrEqual(7);
  expect(JSON.stringify(warnings)).not.toMatch(/Secret|0501234567/);
});

test.each([
  [1.5, 'quantity 1.5 is not a whole number; left empty.'],
  [0, 'quantity 0 is not above zero; left empty.'],
  [2 ** 53, 'quantity 9007199254740992 is too large; left empty.'],
  ['two', 'The quantity is not a whole number above zero; left empty.'],
  [1.2345678901234567e-100, 'The quantity is not a whole number above zero; left empty.'],
  [Number.POSITIVE_INFINITY, 'The quantity is not a whole number above zero; left empty.'],
])('the quantity %p causes the warning: %s', (quantity, detail) => {
  const { warnings } = normalizeOrder({ source_order_id: 'test-1', items: [{ quantity }] });
  expect(warnings).toEqual([{ pointer: '/items/0/quantity', code: 'quantity_unreadable', detail }]);
});

test('the warning about too many decimals names the number that the currency has', () => {
  const { warnings } = normalizeOrder({ source_order_id: 'test-1', total: 'KWD 1.2345' });
  expect(warnings.map(({ detail }) => detail)).toEqual(['More decimals than the 3 that KWD has; kept.']);
});

test('even an invalid id is reduced to characters that Postgres accepts', () => {
  expect(normalizeOrder({ source_order_id: 'a\0b\ud83d' }).order.source_order_id).toBe('ab\ufffd');
});

test('digits in a string are never converted to a float', () => {
  expect(normalize({ total: '123456789012345.678901', currency: 'XYZ' }).order.total).toBe('123456789012345.678901');
});

test('very long fields of every kind are normalized', () => {
  // Work that grows with the square of the length would go on for hours.
  const zeros = '0'.repeat(130_000);
  for (const text of [`1.${zeros}1${zeros}1`, `${zeros}${zeros}x`, `1,${'000,'.repeat(60_000)}x1`]) {
    normalize({ total: text, emirate: text, area: text, address: text, customer: { phone: text, email: text } });
  }
  for (const piece of [' ', '-', ' - ', ', ', '1 ', '050 123 456, ', 'Dubai ', 'e\u0301', '\u202e']) {
    const text = piece.repeat(250_000 / piece.length);
    normalize({ total: text, emirate: text, address: text, customer: text });
    normalize({ area: text, delivery_instructions: text, customer: { phone: text, email: text }, items: text });
  }
  normalize({ total: `(${'1'.repeat(250_000)}`, address: 'AE '.repeat(80_000), emirate: 'دبي و'.repeat(50_000) });
  normalize({ items: Array.from({ length: 9_000 }, () => ({ name: 1e308, sku: 1e308 })) });
  const numbers = Array.from({ length: 40_000 }, () => 1e300);
  const { order } = normalize({ address: numbers, customer: { phone: numbers }, emirate: numbers, items: numbers });
  expect(order.source_order_id).toBe('test-1');
});
