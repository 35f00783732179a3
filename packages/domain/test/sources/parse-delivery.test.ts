import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseDelivery } from '../../src/sources/read-delivery.ts';

const numberText = fc
  .tuple(fc.stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{1,18})?$/), fc.stringMatching(/^([eE][+-]?\d{1,3})?$/))
  .map((parts) => parts.join(''));
const stringText = fc
  .oneof(
    fc.string({ unit: fc.constantFrom('"', '\\', '1234567890123456', '1e5', ',', ':', '\u{1f600}', '\n') }),
    numberText,
  )
  .map((value) => JSON.stringify(value));
const { value: jsonText } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    numberText,
    stringText,
    fc.array(tie('value')).map((values) => `[${values.join(', ')}]`),
    // Without duplicate names: beside them, V8 does not always pass the source of a value to a reviver.
    fc
      .uniqueArray(fc.tuple(stringText, tie('value')), { selector: ([name]) => JSON.parse(name) })
      .map((members) => `{${members.map((pair) => pair.join(': ')).join()}}`),
  ),
}));

/** Simpler than `parseDelivery`, and slower. */
function withReviver(text: string): unknown {
  return JSON.parse(text, (_name, value, { source = '' }: { source?: string } = {}) => {
    const isExact = Number.isFinite(value) && (source.split(/[eE]/)[0] ?? '').replace(/\D/g, '').length <= 15;
    return typeof value === 'number' && !isExact ? source : value;
  });
}

test('only numbers that would lose digits become strings, wherever they are', () => {
  fc.assert(
    fc.property(jsonText, (text) => {
      const body = `{"a": ${text}}`;
      expect(parseDelivery(Buffer.from(body))).toEqual(withReviver(body));
    }),
    { numRuns: 2_000 },
  );
});
