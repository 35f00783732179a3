import { describe, expect, test } from '@jest/globals';
import { typingDistance } from '../src/nearest-name.ts';
import { FOREIGN_PLACES, SHARED_PLACES, TYPO_EXCEPTIONS } from '../src/normalize/place/ambiguous-places.ts';
import { EMIRATES } from '../src/normalize/place/emirates.ts';
import { PLACES } from '../src/normalize/place/find-place.ts';
import { expandSpellings, keysOfSpellings } from '../src/normalize/place/spellings.ts';

const keysOf = (patterns: readonly string[]) => new Set(keysOfSpellings(patterns));

describe('the tables of places', () => {
  const byEmirate = EMIRATES.map(({ name, arabicName, spellings, abbreviations }) =>
    keysOf([name, arabicName, ...spellings, ...abbreviations, ...PLACES[name].flat()]),
  );
  const all = byEmirate.flatMap((keys) => [...keys]);

  test('contain no spelling for two emirates', () => {
    expect(all.filter((key, index) => all.indexOf(key) !== index)).toEqual([]);
  });

  test('contain no spelling of an emirate that is also a shared or foreign place', () => {
    const elsewhere = keysOf([...SHARED_PLACES.flat(), ...FOREIGN_PLACES, ...TYPO_EXCEPTIONS]);
    expect(all.filter((key) => elsewhere.has(key))).toEqual([]);
  });

  test('contain no empty spelling', () => {
    expect(all.filter((key) => key.length < 2)).toEqual([]);
  });
});

test('a pattern expands to each of its alternatives', () => {
  expect(expandSpellings('D{i,e}b{,b}a')).toEqual(['Diba', 'Dibba', 'Deba', 'Debba']);
  expect(expandSpellings('{a{b,c},d}')).toEqual(['ab', 'd', 'ac']);
});

test.each([
  ['dubai', 'dubai', 0],
  ['dubia', 'dubai', 1],
  ['duba', 'dubai', 1],
  ['ddubai', 'dubai', 1],
  ['tubai', 'dubai', 1],
  ['mumbai', 'dubai', 2],
  ['dibba', 'dubai', 3],
  ['ab', '', 2],
  ['abcd', 'badc', 2],
])('"%s" and "%s" are %d typos apart', (a, b, distance) => {
  expect(typingDistance(a, b)).toBe(distance);
  expect(typingDistance(b, a)).toBe(distance);
});

test('each spelling of an emirate is found by the expression for its names', () => {
  for (const { code, name, arabicName, spellings, inNames } of EMIRATES) {
    const written = [name, arabicName, ...spellings].flatMap(expandSpellings);
    expect([code, written.filter((text) => !new RegExp(inNames, 'i').test(text))]).toEqual([code, []]);
  }
});
