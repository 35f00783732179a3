import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { WARNINGS, type WarningCode } from '@orders/domain/normalize/warnings.ts';
import { TEXT_FIELD_NAMES, TEXT_FIELDS } from '@orders/domain/text-fields.ts';

const read = (path: string) => readFileSync(resolve(import.meta.dirname, '..', path), 'utf8');

describe.each(['en', 'ar'])('in %s, there is a text for', (language) => {
  const review = JSON.parse(read(`page/src/locales/${language}/review.json`));

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

  test('each rejection by the identity provider, on the sign-in page', () => {
    const [, union = ''] =
      /export type RejectionReason =([^;]+);/.exec(read('src/sign-in/oidc/rejected-identity.ts')) ?? [];
    const reasons = [...union.matchAll(/\| '(\w+)'/g)].map(([, name]) => name);
    expect(reasons).toContain('bound_otherwise');
    const texts = JSON.parse(read(`page/src/locales/${language}/sign-in.json`)).identityProvider.rejected;
    expect(new Set(Object.keys(texts))).toEqual(new Set(reasons));
  });
});
