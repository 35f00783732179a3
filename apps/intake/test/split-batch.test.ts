import { describe, expect, test } from '@jest/globals';
import { Problem } from '@orders/domain/problems.ts';
import fc from 'fast-check';
import { splitArray, splitLines } from '../src/routes/post-batch/split-batch.ts';

const texts = (parts: Iterable<Buffer>) => Array.from(parts, (part) => part.toString('utf8'));
const space = fc.string({ unit: fc.constantFrom(' ', '\t', '\r', '\n'), maxLength: 3 });
const blank = fc.string({ unit: fc.constantFrom(' ', '\t', '\r'), maxLength: 3 });

describe('lines', () => {
  test('are returned unchanged, with any line ending and any number of empty lines between them', () => {
    const line = fc.tuple(blank, fc.json(), blank, fc.constantFrom('\n', '\r\n', '\n\n', '\n \r\n'));
    fc.assert(
      fc.property(fc.array(line), fc.boolean(), fc.boolean(), (lines, marked, endsAtOnce) => {
        const text = lines.map((parts) => parts.join('')).join('');
        const whole = Buffer.from((marked ? '\ufeff' : '') + (endsAtOnce ? text.trimEnd() : text));
        expect(texts(splitLines(whole))).toEqual(lines.map(([, json]) => json));
      }),
    );
  });

  test('that are empty are scanned only once', () => {
    // Quadratic scanning would take hours.
    const blank = Buffer.alloc(8_388_608, ' \n');
    expect([...splitLines(blank)]).toEqual([]);
    expect(texts(splitLines(Buffer.concat([Buffer.from('1'), blank, Buffer.from('2')])))).toEqual(['1', '2']);
  });

  test('are slices of the same memory', () => {
    const whole = Buffer.from('{"a":1}\n{"b":2}');
    for (const part of splitLines(whole)) expect(part.buffer).toBe(whole.buffer);
  });

  test('of any bytes lose only line breaks and the white space around them', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const whole = Buffer.from(bytes);
        const parts = [...splitLines(whole)];
        for (const part of parts) expect(part.toString('latin1')).not.toContain('\n');
        const bare = (buffer: Buffer) => buffer.toString('latin1').replace(/[ \t\r\n]/g, '');
        const marked = bare(whole).replace(/^\xef\xbb\xbf/, '');
        expect([marked, bare(whole)]).toContain(bare(Buffer.concat(parts)));
      }),
    );
  });
});

/** The elements by `splitArray`; null if it rejects the text or an element is not JSON. */
function elementsOf(text: string | Buffer): unknown[] | null {
  try {
    return texts(splitArray(Buffer.from(text), Number.POSITIVE_INFINITY)).map((part) => JSON.parse(part));
  } catch (error) {
    if (error instanceof Problem || error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The elements by `JSON.parse`; null if the text is not a JSON array. */
function parsed(text: string): unknown[] | null {
  try {
    const value = JSON.parse(text);
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

describe('an array', () => {
  test('is split into the exact bytes of its elements', () => {
    const element = fc.tuple(space, fc.oneof(fc.json(), fc.json({ stringUnit: 'binary' })), space);
    fc.assert(
      fc.property(space, fc.array(element), space, fc.boolean(), (before, elements, after, marked) => {
        const text = `${before}[${elements.map((parts) => parts.join('')).join(',')}]${after}`;
        const whole = Buffer.from((marked ? '\ufeff' : '') + text);
        expect(texts(splitArray(whole, Number.POSITIVE_INFINITY))).toEqual(elements.map(([, json]) => json));
      }),
    );
  });

  test('is accepted exactly when JSON.parse accepts it, with the same elements', () => {
    const fragments = fc
      .array(
        fc.constantFrom('[', ']', '{', '}', '"', ',', ':', '\\', '1', 'null', '"a"', '"\\""', ' ', '\n', '\u00e9'),
        {
          maxLength: 12,
        },
      )
      .map((parts) => `[${parts.join('')}`);
    const damaged = fc
      .tuple(fc.array(fc.jsonValue()), fc.nat(400), fc.nat(2), fc.constantFrom('', '"', ',', '[', ']', '{', '}', '\\'))
      .map(([value, at, cut, put]) => {
        const text = JSON.stringify(value);
        const place = at % (text.length + 1);
        return text.slice(0, place) + put + text.slice(place + cut);
      });
    fc.assert(
      fc.property(fc.oneof(fragments, damaged), (text) => expect(elementsOf(text)).toEqual(parsed(text))),
      { numRuns: 3000 },
    );
  });

  test.each([
    '',
    '  ',
    '{}',
    '{"a":1}\n{"b":2}',
    '[',
    '[1',
    '[1,',
    '[1,]',
    '[,1]',
    '[,]',
    '["]',
    '[1]]',
    '[1] 2',
    '1',
    'null',
  ])('%s is not an array', (text) => {
    expect(() => [...splitArray(Buffer.from(text), Number.POSITIVE_INFINITY)]).toThrow(Problem);
  });

  test('may be empty', () => expect([...splitArray(Buffer.from(' [ ] '), Number.POSITIVE_INFINITY)]).toEqual([]));

  test('with a byte order mark before an element is rejected', () => {
    expect(() => [...splitArray(Buffer.from('[\ufeff1]'), Number.POSITIVE_INFINITY)]).toThrow(Problem);
  });
});

test('an element above the size limit is rejected before its end is searched for', () => {
  const split = splitArray(Buffer.from(`[1,"${'x'.repeat(200)}",2]`), 100);
  expect(split.next().value?.toString()).toBe('1');
  expect(() => split.next()).toThrow('Element 1 of the array is over 100 bytes');
});
