export type Emirate = {
  name: string;
  /** ISO 3166-2. */
  code: string;
  /** Its name as people write it; a single typo in one of these is mended. */
  spellings: readonly string[];
  /** Short forms, where a different letter is a different place. */
  abbreviations: readonly string[];
  /** Towns that senders give instead of the emirate. A town of several emirates (Dibba) is only listed with its addition. */
  cities: readonly string[];
};

/** Case, blanks, hyphens, points, Arabic vowel signs and forms of alif do not matter: `toPlaceKey` folds them. */
export const EMIRATES: readonly Emirate[] = [
  {
    name: 'Abu Dhabi',
    code: 'AE-AZ',
    spellings: ['Abu Dhabi', 'Abu Dhaby', 'Abu Dabi', 'Abu Zabi', 'Abu Zaby', 'Abou Dhabi', 'أبو ظبي', 'أبو ضبي'],
    abbreviations: ['AE-AZ', 'AZ', 'AUH', 'AD', 'ABD'],
    cities: ['Al Ain', 'Al Ayn', 'Madinat Zayed', 'Ruwais', 'Al Ruwais', 'العين', 'مدينة زايد', 'الرويس'],
  },
  {
    name: 'Ajman',
    code: 'AE-AJ',
    spellings: ['Ajman', 'Adjman', 'Ujman', 'عجمان'],
    abbreviations: ['AE-AJ', 'AJ', 'AJM'],
    cities: ['Masfout', 'Masfut', 'مصفوت'],
  },
  {
    name: 'Dubai',
    code: 'AE-DU',
    spellings: ['Dubai', 'Dubay', 'Dubayy', 'Dubaï', 'دبي'],
    abbreviations: ['AE-DU', 'DU', 'DXB', 'DUB'],
    cities: ['Hatta', 'Jebel Ali', 'Jabal Ali', 'حتا', 'جبل علي'],
  },
  {
    name: 'Fujairah',
    code: 'AE-FU',
    spellings: ['Fujairah', 'Al Fujairah', 'Fujaira', 'Fujeirah', 'Fujayrah', 'الفجيرة', 'فجيرة'],
    abbreviations: ['AE-FU', 'FU', 'FUJ', 'FJR'],
    cities: ['Dibba Al Fujairah', 'Dibba Fujairah', 'دبا الفجيرة'],
  },
  {
    name: 'Ras Al Khaimah',
    code: 'AE-RK',
    spellings: [
      'Ras Al Khaimah',
      'Ras Al Khaima',
      'Ras Al Khaymah',
      'Ras El Khaimah',
      'Ras El Khaima',
      'Ras Khaimah',
      'رأس الخيمة',
    ],
    abbreviations: ['AE-RK', 'RK', 'RAK', 'RKT'],
    cities: [],
  },
  {
    name: 'Sharjah',
    code: 'AE-SH',
    spellings: ['Sharjah', 'Al Sharjah', 'Sharja', 'Sharqah', 'Shariqah', 'Ash Shariqah', 'الشارقة', 'شارقة'],
    abbreviations: ['AE-SH', 'SH', 'SHJ', 'SHRJ'],
    cities: [
      'Khor Fakkan',
      'Khorfakkan',
      'Khawr Fakkan',
      'Kalba',
      'Al Dhaid',
      'Dibba Al Hisn',
      'خورفكان',
      'كلباء',
      'الذيد',
      'دبا الحصن',
    ],
  },
  {
    name: 'Umm Al Quwain',
    code: 'AE-UQ',
    spellings: ['Umm Al Quwain', 'Um Al Quwain', 'Umm Al Qaiwain', 'Umm Al Quwayn', 'Umm Al Qaywayn', 'أم القيوين'],
    abbreviations: ['AE-UQ', 'UQ', 'UAQ'],
    cities: ['Falaj Al Mualla', 'فلج المعلا'],
  },
];

/** Places elsewhere that are one letter from an emirate (Amman and Oman from Ajman): never taken for its misspelling. */
export const NO_TYPOS: readonly string[] = ['Amman', 'Oman', 'عمان'];
