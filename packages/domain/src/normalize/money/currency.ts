import currencyCodes from 'currency-codes';

/**
 * Marks beside an amount. They agree with each of `currencies`; without another hint they mean the first one if `nameFirst`, else none.
 */
type CurrencyMarks = { currencies: readonly string[]; nameFirst: boolean; marks: readonly string[] };

/**
 * Spellings of currencies besides their ISO 4217 codes. Dots, spaces, case and Arabic vowel signs do not matter: `readCurrencyMark` folds
 * them. By the contract, "$" and "dollar" alone mean the US dollar.
 */
const CURRENCY_MARKS: readonly CurrencyMarks[] = [
  {
    currencies: ['AED', 'MAD'],
    nameFirst: true,
    marks: ['Dh', 'Dhs', 'Dhm', 'Dhms', 'Dirham', 'Dirhams', 'Derham', 'Dirhem', 'درهم', 'دراهم', 'درهما'],
  },
  {
    currencies: ['AED'],
    nameFirst: true,
    // The last is the sign of the dirham, in Unicode since 2026.
    marks: ['UAE Dirham', 'UAE Dirhams', 'UAE Dhs', 'UAE Dh', 'Emirati Dirham', 'Emirati Dirhams', '\u20c3'],
  },
  {
    currencies: ['AED'],
    nameFirst: true,
    marks: ['د.إ', 'درهم إماراتي', 'درهم اماراتي', 'درهما إماراتيا', 'دراهم إماراتية', 'دراهم اماراتية'],
  },
  {
    currencies: ['USD', 'CAD', 'AUD', 'NZD', 'SGD', 'HKD'],
    nameFirst: true,
    marks: ['$', 'Dollar', 'Dollars', 'دولار'],
  },
  {
    currencies: ['USD'],
    nameFirst: true,
    marks: ['US$', '$US', 'USD$', 'US Dollar', 'US Dollars', 'دولار أمريكي', 'دولار امريكي'],
  },
  { currencies: ['CAD'], nameFirst: true, marks: ['CA$', 'C$'] },
  { currencies: ['AUD'], nameFirst: true, marks: ['AU$', 'A$'] },
  { currencies: ['SGD'], nameFirst: true, marks: ['S$'] },
  { currencies: ['EUR'], nameFirst: true, marks: ['€', 'Euro', 'Euros', 'يورو'] },
  { currencies: ['GBP', 'EGP', 'LBP', 'SYP'], nameFirst: true, marks: ['£'] },
  { currencies: ['GBP'], nameFirst: true, marks: ['Sterling', 'Pound Sterling', 'Pounds Sterling'] },
  // The sign of the riyal is in Unicode since 2025.
  {
    currencies: ['SAR'],
    nameFirst: true,
    marks: ['SR', 'SRs', 'Saudi Riyal', 'Saudi Riyals', '\u20c1', 'ر.س', 'ريال سعودي'],
  },
  { currencies: ['QAR'], nameFirst: true, marks: ['QR', 'QRs', 'Qatari Riyal', 'Qatari Riyals', 'ر.ق', 'ريال قطري'] },
  { currencies: ['OMR'], nameFirst: true, marks: ['RO', 'Omani Rial', 'Omani Rials', 'ر.ع', 'ريال عماني'] },
  { currencies: ['KWD'], nameFirst: true, marks: ['KD', 'Kuwaiti Dinar', 'Kuwaiti Dinars', 'د.ك', 'دينار كويتي'] },
  { currencies: ['BHD'], nameFirst: true, marks: ['BD', 'Bahraini Dinar', 'Bahraini Dinars', 'د.ب', 'دينار بحريني'] },
  {
    currencies: ['JOD'],
    nameFirst: true,
    marks: ['JD', 'Jordanian Dinar', 'Jordanian Dinars', 'د.أ', 'دينار أردني', 'دينار اردني'],
  },
  { currencies: ['EGP'], nameFirst: true, marks: ['E£', 'Egyptian Pound', 'Egyptian Pounds', 'ج.م', 'جنيه مصري'] },
  { currencies: ['INR'], nameFirst: true, marks: ['₹', 'Indian Rupee', 'Indian Rupees'] },
  { currencies: ['PKR'], nameFirst: true, marks: ['Pakistani Rupee', 'Pakistani Rupees'] },
  { currencies: ['JPY'], nameFirst: true, marks: ['Yen'] },
  { currencies: ['CNY'], nameFirst: true, marks: ['Yuan', 'RMB'] },
  {
    currencies: ['INR', 'PKR', 'LKR', 'NPR', 'MUR', 'SCR'],
    nameFirst: false,
    marks: ['Rs', 'Rupee', 'Rupees', 'روبية'],
  },
  {
    currencies: ['SAR', 'QAR', 'OMR', 'YER', 'IRR'],
    nameFirst: false,
    marks: ['Riyal', 'Riyals', 'Rial', 'Rials', 'ريال'],
  },
  {
    currencies: ['KWD', 'BHD', 'JOD', 'IQD', 'LYD', 'TND', 'DZD'],
    nameFirst: false,
    marks: ['Dinar', 'Dinars', 'دينار'],
  },
  { currencies: ['GBP', 'EGP', 'LBP', 'SYP', 'SDG', 'SSP'], nameFirst: false, marks: ['Pound', 'Pounds', 'جنيه'] },
  { currencies: ['JPY', 'CNY'], nameFirst: false, marks: ['¥'] },
  { currencies: ['SEK', 'NOK', 'DKK', 'ISK'], nameFirst: false, marks: ['kr'] },
];

/** Codes that are English words ("99 all", "5 cup"): beside an amount they are currencies only in capitals. */
const CODES_LIKE_WORDS: ReadonlySet<string> = new Set([
  'ALL',
  'BAM',
  'BOB',
  'COP',
  'CUP',
  'DOP',
  'GEL',
  'MAD',
  'MOP',
  'PEN',
  'SOS',
  'TOP',
  'TRY',
]);

const FRACTION_DIGITS: ReadonlyMap<string, number> = new Map([
  ...currencyCodes.data.map(({ code, digits }) => [code, digits] as const),
  // Introduced in 2025; currency-codes 2.2.0 has the list of 2024.
  ['XCG', 2],
]);

/** The ISO 4217 codes that a mark agrees with, and the one that it means without another hint, if any. */
export type CurrencyReading = { codes: readonly string[]; named: string | null };

const MARKS: ReadonlyMap<string, CurrencyReading> = new Map(
  CURRENCY_MARKS.flatMap(({ currencies, nameFirst, marks }) => {
    const reading = { codes: currencies, named: (nameFirst && currencies[0]) || null };
    return marks.map((mark) => [foldMark(mark), reading] as const);
  }),
);

/**
 * Reads a code in any case, a sign or a name: "aed", "Dhs." and "درهم" mean the dirham, "$" the US dollar unless another mark says
 * otherwise, "Rs" one of several rupees. Undefined if it is not a currency.
 */
export function readCurrencyMark(mark: string): CurrencyReading | undefined {
  const folded = FRACTION_DIGITS.has(mark) ? mark : foldMark(mark);
  return FRACTION_DIGITS.has(folded) ? { codes: [folded], named: folded } : MARKS.get(folded);
}

/** The same for a word beside an amount, which may be an ordinary word. */
export function readCurrencyBeside(mark: string): CurrencyReading | undefined {
  const isWord = CODES_LIKE_WORDS.has(mark.toUpperCase()) && mark !== mark.toUpperCase();
  return isWord ? undefined : readCurrencyMark(mark);
}

/** Upper case, without dots, colons, spaces, Arabic vowel signs and tatweel; "﷼" and "₨" become the words they abbreviate. */
function foldMark(mark: string): string {
  return mark
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[.:\s\u0640\u064b-\u0652]/g, '')
    .replace(/[یى]/g, 'ي');
}

/** The number of decimals of a currency; undefined for an unknown one. */
export function fractionDigitsOf(currency: string): number | undefined {
  return FRACTION_DIGITS.get(currency);
}
