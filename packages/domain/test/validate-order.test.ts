import { describe, expect, test } from '@jest/globals';
import { parseBody } from '../src/parse-body.ts';
import { Problem } from '../src/problems.ts';
import { validateOrder } from '../src/validate-order.ts';

function brokenRules(payload: Record<string, unknown>): string[] {
  try {
    validateOrder(payload);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(Problem);
    expect(error).toMatchObject({ code: 'validation_failed', status: 422 });
    const { errors = [] } = error as Problem;
    expect(errors.filter(({ pointer, detail }) => pointer !== '/source_order_id' || detail === '')).toEqual([]);
    return errors.map(({ code }) => code);
  }
}

describe('a source_order_id', () => {
  test.each([
    ['a letter', 'a'],
    ['spaces around it, which count', ' a '],
    ['punctuation and Arabic', '#10/٣٤-طلب'],
    ['255 characters', 'x'.repeat(255)],
    ['255 characters of two code units each', '😀'.repeat(255)],
    ['an invisible character that is no white space', '\u200e'],
  ])('may be %s', (_, source_order_id) => {
    expect(brokenRules({ source_order_id })).toEqual([]);
  });

  test.each<[string, unknown, string[]]>([
    ['missing', undefined, ['required']],
    ['null', null, ['required']],
    ['a number', 1001, ['not_a_string']],
    ['a list', ['a'], ['not_a_string']],
    ['a boolean', true, ['not_a_string']],
    ['empty', '', ['blank']],
    ['blank', ' \u00a0 ', ['blank']],
    ['256 characters', 'x'.repeat(256), ['too_long']],
    ['256 characters of two code units each', '😀'.repeat(256), ['too_long']],
    ['with a line break', 'a\nb', ['control_character']],
    ['with U+0000', 'a\0', ['control_character']],
    ['with U+0085', 'a\u0085', ['control_character']],
    ['with half of a pair', 'a\ud83d', ['lone_surrogate']],
    ['wrong in several ways', `\t\ude00${'x'.repeat(255)}`, ['too_long', 'control_character', 'lone_surrogate']],
  ])('may not be %s', (_, source_order_id, codes) => {
    expect(brokenRules({ source_order_id })).toEqual(codes);
  });

  test('is not taken from a member __proto__', () => {
    expect(brokenRules(parseBody(Buffer.from('{"__proto__":{"source_order_id":"a"}}')))).toEqual(['required']);
  });

  test('is not quoted in the problem', () => {
    expect.assertions(1);
    try {
      validateOrder({ source_order_id: 'Secret\n'.repeat(60) });
    } catch (error) {
      const { message, detail, errors } = error as Problem;
      expect(JSON.stringify({ message, detail, errors })).not.toContain('Secret');
    }
  });
});

test('only the source_order_id can cause a rejection', () => {
  expect(brokenRules({ source_order_id: 'a', customer: 7, items: 'x', total: {}, anything: [[]] })).toEqual([]);
});
