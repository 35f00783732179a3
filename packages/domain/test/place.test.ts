import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { typingDistance } from '../src/nearest-name.ts';
import { FOREIGN_PLACES, SHARED_PLACES, TYPO_EXCEPTIONS } from '../src/normalize/place/ambiguous-places.ts';
import { EMIRATES } from '../src/normalize/place/emirates.ts';
import { PLACES } from '../src/normalize/place/find-place.ts';
import { expandSpellings, keysOfSpellings, toPlaceKey } from '../src/normalize/place/spellings.ts';
import { normalizeOrder } from '../src/normalize-order.ts';

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

type RealName = { name: string; code: string; isArabic: boolean };

const LINES = readFileSync(new URL('fixtures/places-of-the-emirates.csv', import.meta.url), 'utf8').split('\n');

const REAL_NAMES: readonly RealName[] = LINES.filter((line) => line !== '' && !line.startsWith('#')).flatMap((line) => {
  const [code = '', english = '', arabic = ''] = line.split(',');
  const names = [
    { name: english, code, isArabic: false },
    { name: arabic, code, isArabic: true },
  ];
  return names.filter(({ name }) => name !== '');
});

/** "Mushrif" and "Al Mushrif" are one name. */
const withoutArticle = (name: string) => toPlaceKey(name).replace(/^(?:al|ال)/, '');

const EMIRATES_OF = Map.groupBy(REAL_NAMES, ({ name }) => withoutArticle(name));

/** The emirate of a name, or null if several have it. */
function onlyEmirate(name: string): string | null {
  const [code, ...others] = new Set(EMIRATES_OF.get(withoutArticle(name))?.map((real) => real.code));
  return code !== undefined && others.length === 0 ? code : null;
}

const inferFrom = (place: { area?: string; address?: string }) =>
  normalizeOrder({ source_order_id: 'place-1', ...place }).order.emirate_code;

/** How often an emirate was inferred, and each that is not the expected one. */
function tryAll(
  names: readonly RealName[],
  expected: (real: RealName) => string | null,
  place: (real: RealName) => object,
) {
  const results = names.map((real) => ({ real, code: inferFrom(place(real)) }));
  const inferred = results.filter(({ code }) => code !== null);
  const wrong = inferred.filter(({ real, code }) => code !== expected(real));
  return { inferred: inferred.length, wrong: wrong.map(({ real, code }) => `${JSON.stringify(place(real))}: ${code}`) };
}

const english = REAL_NAMES.filter(({ isArabic }) => !isArabic);
const arabic = REAL_NAMES.filter(({ isArabic }) => isArabic);

test('the list of real names is long, and few of them are in several emirates', () => {
  expect({ english: english.length, arabic: arabic.length }).toEqual({ english: 1074, arabic: 947 });
  expect(REAL_NAMES.filter(({ name }) => onlyEmirate(name) === null).length).toBe(123);
});

describe.each([
  { place: 'the area', names: english, atLeast: 660, of: ({ name }: RealName) => ({ area: name }) },
  { place: 'the area', names: arabic, atLeast: 590, of: ({ name }: RealName) => ({ area: name }) },
  {
    place: 'the end of an address',
    names: english,
    atLeast: 660,
    of: ({ name }: RealName) => ({ address: `Villa 5, Street 12, ${name}, UAE` }),
  },
  {
    place: 'the end of an address',
    names: arabic,
    atLeast: 590,
    of: ({ name }: RealName) => ({ address: `شقة 5، شارع 12، ${name}` }),
  },
  {
    place: 'an address without commas',
    names: english,
    atLeast: 615,
    of: ({ name }: RealName) => ({ address: `Villa 5 ${name}` }),
  },
])('a real name as $place, $names.length of them', ({ names, atLeast, of }) => {
  const { inferred, wrong } = tryAll(names, ({ name }) => onlyEmirate(name), of);

  test('never gives a wrong emirate', () => {
    expect(wrong).toEqual([]);
  });

  test(`gives the emirate of at least ${atLeast}`, () => {
    expect(inferred).toBeGreaterThanOrEqual(atLeast);
  });
});

/** An emirate that the place is not in; they take turns. */
function otherEmirate(real: RealName): { name: string; arabicName: string; code: string } {
  const others = EMIRATES.filter(({ code }) =>
    EMIRATES_OF.get(withoutArticle(real.name))?.every((same) => same.code !== code),
  );
  return others[toPlaceKey(real.name).length % others.length] ?? { name: '', arabicName: '', code: '' };
}

test.each([
  { address: '<name> Street, <emirate>', of: english },
  { address: '<name> Tower, <emirate>', of: english },
  { address: 'near <name>, <emirate>', of: english },
  { address: 'Flat 5, <name> Supermarket, <emirate>', of: english },
  { address: 'شارع <name>، <emirate>', of: arabic },
  { address: 'شقة 5، بناية <name>، <emirate>', of: arabic },
])('"$address" with another emirate at the end gives that one or none', ({ address, of: names }) => {
  const place = (real: RealName) => {
    const { name, arabicName } = otherEmirate(real);
    return { address: address.replace('<name>', real.name).replace('<emirate>', real.isArabic ? arabicName : name) };
  };
  const { inferred, wrong } = tryAll(names, (real) => otherEmirate(real).code, place);
  expect(wrong).toEqual([]);
  expect(inferred).toBeGreaterThan(names.length * 0.8);
});
