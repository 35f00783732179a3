import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { contentFingerprint } from '../src/content-fingerprint.ts';
import { normalizeOrder } from '../src/normalize-order.ts';

const print = (json: string) => contentFingerprint(Buffer.from(json));
const order = (rest: string) => `{"source_order_id":"a",${rest}}`;

describe('two bodies have the same fingerprint', () => {
  test.each([
    ['in another order of members', '{"a":1,"b":{"c":2,"d":[1,2]}}', '{"b":{"d":[1,2],"c":2},"a":1}'],
    [
      'with white space and a byte order mark',
      '{"a":[1,{"b":null}],"c":{}}',
      '\uFEFF { "a" : [ 1 , {"b":\tnull} ] ,\r\n"c":{ } } ',
    ],
    ['with other escapes', '{"a":"é\\u002f\\"😀","\\u0062":1}', '{"a":"\\u00e9/\\u0022\\ud83d\\ude00","b":1}'],
    ['with numbers spelled otherwise', '{"a":100,"b":-1.5,"c":0.01}', '{"a":1.00e2,"b":-15E-1,"c":1e-2}'],
    ['with zero as minus zero', '{"a":0}', '{"a":-0.00e5}'],
    ['with duplicate members (the last one counts)', '{"a":1,"b":2}', '{"b":{"a":[9]},"a":1,"b":2}'],
    ['with a member __proto__', '{"__proto__":{"a":1},"b":1}', '{"b":1,"__proto__":{"a":1}}'],
    ['with a total as a string', order('"total":49'), order('"total":"49.00"')],
    ['with a total of another spelling', order('"total":49.0'), order('"total":"49"')],
    ['with a quantity as a string', order('"items":[{},{"quantity":2}]'), order('"items":[{},{"quantity":"2.0"}]')],
    ['with an absurd exponent', '{"a":1e99999999999}', '{"a":1e99999999999}'],
  ])('%s', (_, one, other) => {
    expect(print(one)).toBe(print(other));
  });
});

describe('two bodies have different fingerprints', () => {
  test.each([
    ['where a string is not a plain number', order('"total":"49.00"'), order('"total":"049"')],
    ['where a comma may be thousands', order('"total":1.5'), order('"total":"1,500"')],
    ['where a string of a phone is a number', '{"customer":{"phone":"501"}}', '{"customer":{"phone":501}}'],
    ['where an id is a number', '{"customer":{"id":"1.0"}}', '{"customer":{"id":"1"}}'],
    ['where a total is not the order’s', '{"x":{"total":"1"}}', '{"x":{"total":1}}'],
    ['where a quantity is not of an item', '{"quantity":"1"}', '{"quantity":1}'],
    ['where items are not a list', '{"items":{"quantity":"1"}}', '{"items":{"quantity":1}}'],
    ['where numbers differ only beyond double precision', '{"a":12345678901234567890}', '{"a":12345678901234567891}'],
    [
      'where a string has more digits than a number can',
      order('"total":1234567890123456.7'),
      order('"total":"1234567890123456.7"'),
    ],
    ['where a fraction is too long', order('"total":0.1'), order('"total":0.10000000000000000001')],
    ['where an exponent is absurd', '{"a":1e99999999999}', '{"a":1e99999999998}'],
    ['where the order of a list is another', '{"a":[1,2]}', '{"a":[2,1]}'],
    ['where null is not absent', '{"a":null}', '{}'],
    ['where a number is in another list', '{"a":[[1],[]]}', '{"a":[[],[1]]}'],
    ['where lone surrogates differ', '{"a":"\\ud800"}', '{"a":"\\ud801"}'],
    ['where letters are composed differently', '{"a":"é"}', '{"a":"e\\u0301"}'],
    ['where a string looks like its canonical number', order('"total":"49e0"'), order('"total":49')],
    ['where a name holds a separator', '{"a\\":1,\\"b":2}', '{"a":1,"b":2}'],
  ])('%s', (_, one, other) => {
    expect(print(one)).not.toBe(print(other));
  });
});

const payload = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 6 });

/** The same content with members in another order and white space between them. */
function shuffled(value: unknown, take: (count: number) => number): string {
  if (Array.isArray(value)) return `[ ${value.map((one) => shuffled(one, take)).join(' ,')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}\n:${shuffled(one, take)}`);
  for (let index = members.length - 1; index > 0; index -= 1) {
    const other = take(index + 1);
    [members[index], members[other]] = [members[other] as string, members[index] as string];
  }
  return `{${members.join(',\t')} }`;
}

test('the order of members does not change the fingerprint of any payload', () => {
  fc.assert(
    fc.property(payload, fc.gen(), (value, gen) => {
      const other = shuffled(value, (count) => gen(fc.integer, { min: 0, max: count - 1 }));
      expect(print(other)).toBe(print(JSON.stringify(value)));
    }),
  );
});

/** A canonical form: two payloads are deeply equal exactly if these strings are equal. */
const contentOf = (value: unknown): string =>
  JSON.stringify(value, (_, one) =>
    one !== null && typeof one === 'object' && !Array.isArray(one)
      ? Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))
      : one,
  );

test('two payloads have the same fingerprint exactly if their content is equal', () => {
  fc.assert(
    fc.property(payload, payload, (one, other) => {
      expect(print(JSON.stringify(one)) === print(JSON.stringify(other))).toBe(contentOf(one) === contentOf(other));
    }),
  );
});

test('a change in a single place changes the fingerprint', () => {
  fc.assert(
    fc.property(payload, fc.string({ minLength: 1 }), fc.jsonValue({ maxDepth: 2 }), (value, name, member) => {
      const changed = { ...value, [name]: member };
      fc.pre(contentOf(changed) !== contentOf(value));
      expect(print(JSON.stringify(changed))).not.toBe(print(JSON.stringify(value)));
    }),
  );
});

test.each([
  ['not JSON', '{"a":'],
  ['not an object', '[1]'],
  ['deeper than 64 levels', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`],
])('a body that is %s has no fingerprint', (_, json) => {
  expect(() => print(json)).toThrow(expect.objectContaining({ code: 'malformed_body' }));
});

test('a total or quantity with equal fingerprints as number and string is normalized equally', () => {
  const plain = fc.tuple(fc.maxSafeNat(), fc.nat({ max: 4 })).map(([digits, point]) => {
    const text = String(digits).padStart(point + 1, '0');
    return point === 0 ? text : `${text.slice(0, -point)}.${text.slice(-point)}`;
  });
  fc.assert(
    fc.property(plain, (text) => {
      const [number, string] = [text, `"${text}"`].map((value) =>
        order(`"total":${value},"items":[{"quantity":${value}}]`),
      );
      fc.pre(print(number as string) === print(string as string));
      const [one, other] = [number, string].map((json) => normalizeOrder(JSON.parse(json as string)).order);
      // "49.00" is kept with its zeros.
      expect({ ...one, total: Number(one?.total) }).toEqual({ ...other, total: Number(other?.total) });
    }),
  );
});
