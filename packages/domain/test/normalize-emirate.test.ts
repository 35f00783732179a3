import { describe, expect, test } from '@jest/globals';
import { EMIRATES } from '../src/normalize/emirate-names.ts';
import { isOneTypoApart } from '../src/normalize/one-typo-apart.ts';
import { toPlaceKey } from '../src/normalize/place-key.ts';
import { normalize } from './normalize-one-field.ts';

const SPELLINGS = {
  'AE-AZ': [
    'Abu Dhabi',
    'abu dhabi ',
    'ABU-DHABI',
    'Abudhabi',
    'AUH',
    'AE-AZ',
    'أبو ظبي',
    'ابوظبى',
    'City of Abu Dhabi',
  ],
  'AE-AJ': ['Ajman', 'AJM', 'عجمان', 'إمارة عجمان'],
  'AE-DU': [
    'Dubai',
    'dxb',
    'DU',
    'Dubai, UAE',
    'Emirate of Dubai',
    'دبي',
    'دُبَيّ',
    'دبـــي',
    'دبي، الإمارات العربية المتحدة',
  ],
  'AE-FU': ['Fujairah', 'Al Fujairah', 'Fujeirah', 'FUJ', 'الفجيرة', 'الفجيره'],
  'AE-RK': ['Ras Al Khaimah', 'ras al-khaimah', 'Ras Al Khaima', 'R.A.K.', 'RAK City', 'رأس الخيمة', 'راس الخيمه'],
  'AE-SH': ['Sharjah', 'Shj', 'Sharja', 'Al Sharjah', 'الشارقة', 'Sharjah Emirate'],
  'AE-UQ': ['Umm Al Quwain', 'Umm al-Quwain', 'Um Al Quwain', 'UAQ', 'أم القيوين'],
};

describe('an emirate', () => {
  test.each(Object.entries(SPELLINGS).flatMap(([code, names]) => names.map((name) => [name, code])))(
    'written "%s" is %s, silently',
    (emirate, emirate_code) => {
      const { order, warned } = normalize({ emirate });
      const { name } = EMIRATES.find(({ code }) => code === emirate_code) ?? {};
      expect(order).toMatchObject({ emirate: name, emirate_code, area: null });
      expect(warned).toEqual([]);
    },
  );

  test.each([
    ['Sharjha', 'Sharjah'],
    ['Dubia', 'Dubai'],
    ['Dubaii', 'Dubai'],
    ['Ajmn', 'Ajman'],
    ['Abu Dahbi', 'Abu Dhabi'],
    ['الشاقة', 'Sharjah'],
  ])('misspelled "%s" is mended to %s, with a warning', (sent, emirate) => {
    const { order, warned } = normalize({ emirate: sent });
    expect(order.emirate).toBe(emirate);
    expect(warned).toEqual(['/emirate emirate_mended']);
  });

  test.each(['Muscat', 'Amman', 'Oman', 'عمان', 'Dubai/Sharjah', 'UAE', 'Dib', 'Dibba', '???'])(
    '"%s" is none: kept as sent, without a code, with a warning',
    (emirate) => {
      const { order, warned } = normalize({ emirate });
      expect(order).toMatchObject({ emirate, emirate_code: null });
      expect(warned).toEqual(['/emirate emirate_unknown']);
    },
  );

  test('is found by a city of it, which moves to an empty area', () => {
    const { order, warned } = normalize({ emirate: 'Al Ain' });
    expect(order).toMatchObject({ emirate: 'Abu Dhabi', emirate_code: 'AE-AZ', area: 'Al Ain' });
    expect(warned).toEqual(['/emirate emirate_from_city']);
  });

  test('found by a city leaves an area alone', () => {
    const { order } = normalize({ emirate: 'خورفكان', area: 'Al Mudeifi' });
    expect(order).toMatchObject({ emirate: 'Sharjah', area: 'Al Mudeifi' });
  });
});

test('no spelling in the table stands for two emirates', () => {
  const keys = EMIRATES.flatMap((emirate) => {
    const names = [...emirate.spellings, ...emirate.abbreviations, ...emirate.cities];
    return [...new Set(names.map(toPlaceKey))];
  });
  expect(keys).toHaveLength(new Set(keys).size);
  expect(keys).not.toContain('');
});

test.each([
  ['dubai', 'dubia', true],
  ['dubai', 'duba', true],
  ['dubai', 'ddubai', true],
  ['dubai', 'tubai', true],
  ['dubai', 'dubai', false],
  ['dubai', 'mumbai', false],
  ['dubai', 'dibba', false],
  ['aab', 'abb', true],
  ['ab', '', false],
])('"%s" and "%s" are one typo apart: %s', (a, b, isApart) => {
  expect(isOneTypoApart(a, b)).toBe(isApart);
  expect(isOneTypoApart(b, a)).toBe(isApart);
});
