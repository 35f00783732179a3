import { describe, expect, test } from '@jest/globals';
import { parseBody } from '../src/parse-body.ts';
import { Problem } from '../src/problems.ts';

const BOM = '\uFEFF';
const MAX_BODY_BYTES = 262_144;

function nested(levels: number): string {
  return ['{"a":'.repeat(levels - 1), '{}', '}'.repeat(levels - 1)].join('');
}

function refusal(body: string | Buffer): string {
  try {
    parseBody(Buffer.from(body as string));
  } catch (error) {
    expect(error).toBeInstanceOf(Problem);
    expect(error).toMatchObject({ code: 'malformed_body', status: 400 });
    return (error as Problem).detail;
  }
  throw new Error('was accepted');
}

describe('parseBody reads', () => {
  test.each<[string, string, unknown]>([
    ['an object', '{"source_order_id":"a","total":1}', { source_order_id: 'a', total: 1 }],
    ['an object behind one byte order mark', `${BOM}{"a":1}`, { a: 1 }],
    ['an object between spaces', ' \r\n{"a":1}\n', { a: 1 }],
    ['the last of duplicate members', '{"a":1,"a":2}', { a: 2 }],
    [
      'brackets inside strings',
      `{"a":"${'['.repeat(100)}\\"${'{'.repeat(100)}"}`,
      { a: `${'['.repeat(100)}"${'{'.repeat(100)}` },
    ],
  ])('%s', (_, body, payload) => {
    expect(parseBody(Buffer.from(body))).toEqual(payload);
  });

  test('64 levels', () => {
    expect(Object.keys(parseBody(Buffer.from(nested(64))))).toEqual(['a']);
  });

  test('a member __proto__ as an ordinary member', () => {
    const payload = parseBody(Buffer.from('{"__proto__":{"source_order_id":"a"}}'));
    expect(Object.keys(payload)).toEqual(['__proto__']);
    expect(payload.source_order_id).toBeUndefined();
    expect(Object.getPrototypeOf(payload)).toBe(Object.prototype);
  });
});

describe('parseBody rejects', () => {
  test.each<[string, string | Buffer, string]>([
    ['nothing', '', 'The body is empty.'],
    ['spaces only', ' \n ', 'The body is empty.'],
    ['a byte order mark only', BOM, 'The body is empty.'],
    ['two byte order marks', `${BOM}${BOM}{}`, 'The body is not JSON.'],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'The body is not UTF-8.'],
    ['a surrogate encoded in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'The body is not UTF-8.'],
    ['a string', '"order"', 'The body is JSON, but not one JSON object.'],
    ['a list', '[{}]', 'The body is JSON, but not one JSON object.'],
    ['null', 'null', 'The body is JSON, but not one JSON object.'],
    ['two objects', '{}\n{}', 'The body is not JSON: see line 2, column 1.'],
    ['65 levels', nested(65), 'The body is nested deeper than 64 levels.'],
  ])('%s', (_, body, detail) => {
    expect(refusal(body)).toBe(detail);
  });

  test.each([
    ['unquoted', '{"phone": Secret0501234567}'],
    ['cut off', '{"phone": "Secret0501234567'],
    ['in a trailing comma', '{"phone": "Secret0501234567",}'],
  ])('invalid JSON without repeating any of it: %s', (_, body) => {
    expect(refusal(body)).toMatch(/^The body is not JSON(: see line 1, column \d+)?\.$/);
  });

  test('a body full of brackets', () => {
    expect(refusal('['.repeat(MAX_BODY_BYTES))).toBe('The body is nested deeper than 64 levels.');
  });
});
