/** One of the seven. `expandSpellings` expands patterns: "R{a,aa}s" is "Ras" and "Raas". */
export type Emirate = {
  name: EmirateName;
  /** ISO 3166-2. */
  code: string;
  /** Small typos in it and in `name` are corrected. */
  arabicName: string;
  /** Patterns of other English and Arabic spellings; read without a warning. */
  spellings: readonly string[];
  /** ISO code with and without country, and abbreviations of number plates and airports. Typos in these are not corrected. */
  abbreviations: readonly string[];
  /** A regular expression for a part of each of its names, to find texts that may have one. */
  inNames: string;
};

export type EmirateName = 'Abu Dhabi' | 'Ajman' | 'Dubai' | 'Fujairah' | 'Ras Al Khaimah' | 'Sharjah' | 'Umm Al Quwain';

/** Case, spaces, punctuation, accents, Arabic vowel signs and forms of alif do not matter: `toPlaceKey` folds them. */
export const EMIRATES: readonly Emirate[] = [
  {
    name: 'Abu Dhabi',
    code: 'AE-AZ',
    arabicName: 'أبو ظبي',
    spellings: ['Ab{u,ou,oo,o} {Dh,D,Z,Th}ab{i,y,ee}', '{أبو,أبي,بو} {ظ,ض}بي', 'ابوظہبی', 'أبو ظهبي'],
    abbreviations: ['AE-AZ', 'AZ', 'AUH', 'AE-AUH', 'AD'],
    inNames: 'dh?ab|zab|thab|[ظض]ب|ظہب|ظه',
  },
  {
    name: 'Ajman',
    code: 'AE-AJ',
    arabicName: 'عجمان',
    spellings: ['A{j,dj}m{a,aa}n', 'Ujman'],
    abbreviations: ['AE-AJ', 'AJ', 'AJM', 'AE-AJM'],
    inNames: '[au]d?jm|عجم',
  },
  {
    name: 'Dubai',
    code: 'AE-DU',
    arabicName: 'دبي',
    spellings: ['D{u,ou,o}b{ai,ay,ayy,ei,ey}', '{دبي,دوبي,دبئی,دوبئی}'],
    abbreviations: ['AE-DU', 'DU', 'DXB', 'AE-DXB', 'DUB'],
    inNames: 'd[uo]u?b|dxb|دب|دوب',
  },
  {
    name: 'Fujairah',
    code: 'AE-FU',
    arabicName: 'الفجيرة',
    spellings: ['{,Al ,El }F{u,ou}j{ai,ei,ay,ey,e}r{a,ah,eh}', '{,ال}فجيرة'],
    abbreviations: ['AE-FU', 'FU', 'FUJ', 'AE-FUJ', 'FJR'],
    inNames: 'fuj|fouj|فجير',
  },
  {
    name: 'Ras Al Khaimah',
    code: 'AE-RK',
    arabicName: 'رأس الخيمة',
    spellings: ['R{a,aa}{s,ss} {,Al ,El ,Ul ,Il }Kh{ai,ei,ay,ey,e,ee}m{a,ah,eh}', 'رأس {,ال}خيمة'],
    abbreviations: ['AE-RK', 'RK', 'RAK', 'AE-RAK', 'RKT'],
    inNames: 'kh[aei]|\\brak\\b|خيم',
  },
  {
    name: 'Sharjah',
    code: 'AE-SH',
    arabicName: 'الشارقة',
    spellings: ['{,Al ,El ,As ,Ash }Sh{a,aa}r{j,ej,ij,iq,q,g}{a,ah,eh}', '{,ال}شار{ق,ج}ة'],
    abbreviations: ['AE-SH', 'SH', 'SHJ', 'AE-SHJ', 'SHRJ'],
    inNames: 'sh[aj]|شار',
  },
  {
    name: 'Umm Al Quwain',
    code: 'AE-UQ',
    arabicName: 'أم القيوين',
    spellings: ['U{m,mm} {,Al ,El ,Ul }{Q,K}{uw,u,w,aiw,ayw,iw,eiw,ew,aw}{ai,ei,ay,ey,e}n', 'أم {,ال}{قيوين,قوين}'],
    abbreviations: ['AE-UQ', 'UQ', 'UAQ', 'AE-UAQ', 'QIW'],
    inNames: '\\bum|uaq|أم|ام|قو?ي',
  },
];

export const EMIRATE_CODES: readonly string[] = EMIRATES.map(({ code }) => code);
