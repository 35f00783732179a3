import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { WARNINGS, type WarningCode } from '@orders/domain/normalize/warnings.ts';
import { TEXT_FIELD_NAMES, TEXT_FIELDS } from '@orders/domain/text-fields.ts';

describe.each(['en', 'ar'])('in %s, there is a text for', (language) => {
  const path = new URL(`../page/src/locales/${language}/review.json`, import.meta.url);
  const review = JSON.parse(readFileSync(path, 'utf8'));

  test('each warning', () => {
    expect(new Set(Object.keys(review.warning))).toEqual(new Set([...Object.keys(WARNINGS), 'ordered_again', 'show']));
  });

  test('no warning about a value that a reviewer may enter as the reason not to', () => {
    const { other, ...refused } = review.refused;
    expect(Object.keys(refused).filter((code) => WARNINGS[code as WarningCode]?.[2] !== 'retype')).toEqual([]);
    expect(other).toContain('{{detail}}');
  });

  test.each(TEXT_FIELD_NAMES)('%s of an order, and each of its values', (name) => {
    const field = TEXT_FIELDS[name];
    expect(review.field[name]).toEqual(expect.any(String));
    if ('values' in field) expect(Object.keys(review.choice[name])).toEqual(Object.keys(field.values));
  });
});
