/** Points and blanks, case and Arabic vowel signs in a mark do not matter: `findCurrencies` folds them. */
export type CurrencyMarks = { currencies: readonly string[]; marks: readonly string[] };

/**
 * How people write a currency beside its ISO 4217 code. "$" and "dollar" alone are the US dollar, by the contract. A mark
 * of several currencies agrees with each of them and names none.
 */
export const CURRENCY_MARKS: readonly CurrencyMarks[] = [
  {
    currencies: ['AED'],
    // The last is the sign of the dirham, in Unicode since 2026.
    marks: ['Dh', 'Dhs', 'Dhm', 'Dhms', 'Dirham', 'Dirhams', 'UAE Dirham', 'UAE Dirhams', 'Emirati Dirham', '\u20c3'],
  },
  {
    currencies: ['AED'],
    marks: ['د.إ', 'درهم', 'دراهم', 'درهما', 'درهم إماراتي', 'درهم اماراتي', 'دراهم إماراتية', 'دراهم اماراتية'],
  },
  {
    currencies: ['USD'],
    marks: [
      '$',
      'US$',
      '$US',
      'USD$',
      'Dollar',
      'Dollars',
      'US Dollar',
      'US Dollars',
      'دولار',
      'دولار أمريكي',
      'دولار امريكي',
    ],
  },
  { currencies: ['EUR'], marks: ['€', 'Euro', 'Euros', 'يورو'] },
  { currencies: ['GBP'], marks: ['£', 'Sterling', 'Pound Sterling', 'Pounds Sterling'] },
  // The sign of the riyal is in Unicode since 2025.
  { currencies: ['SAR'], marks: ['SR', 'SRs', 'Saudi Riyal', 'Saudi Riyals', '\u20c1', 'ر.س', 'ريال سعودي'] },
  { currencies: ['QAR'], marks: ['QR', 'QRs', 'Qatari Riyal', 'Qatari Riyals', 'ر.ق', 'ريال قطري'] },
  { currencies: ['OMR'], marks: ['RO', 'Omani Rial', 'Omani Rials', 'ر.ع', 'ريال عماني'] },
  { currencies: ['KWD'], marks: ['KD', 'Kuwaiti Dinar', 'Kuwaiti Dinars', 'د.ك', 'دينار كويتي'] },
  { currencies: ['BHD'], marks: ['BD', 'Bahraini Dinar', 'Bahraini Dinars', 'د.ب', 'دينار بحريني'] },
  { currencies: ['JOD'], marks: ['JD', 'Jordanian Dinar', 'Jordanian Dinars', 'د.أ', 'دينار أردني', 'دينار اردني'] },
  { currencies: ['EGP'], marks: ['E£', 'Egyptian Pound', 'Egyptian Pounds', 'ج.م', 'جنيه مصري'] },
  { currencies: ['INR'], marks: ['₹', 'Indian Rupee', 'Indian Rupees'] },
  { currencies: ['PKR'], marks: ['Pakistani Rupee', 'Pakistani Rupees'] },
  { currencies: ['JPY'], marks: ['Yen'] },
  { currencies: ['CNY'], marks: ['Yuan', 'RMB'] },
  { currencies: ['INR', 'PKR', 'LKR', 'NPR', 'MUR', 'SCR'], marks: ['Rs', 'Rupee', 'Rupees', 'روبية'] },
  { currencies: ['SAR', 'QAR', 'OMR', 'YER', 'IRR'], marks: ['Riyal', 'Riyals', 'Rial', 'Rials', 'ريال'] },
  { currencies: ['KWD', 'BHD', 'JOD', 'IQD', 'LYD', 'TND', 'DZD'], marks: ['Dinar', 'Dinars', 'دينار'] },
  { currencies: ['GBP', 'EGP', 'LBP', 'SYP', 'SDG', 'SSP'], marks: ['Pound', 'Pounds', 'جنيه'] },
  { currencies: ['JPY', 'CNY'], marks: ['¥'] },
  { currencies: ['SEK', 'NOK', 'DKK', 'ISK'], marks: ['kr'] },
];

/** Codes that are English words: beside an amount they are currencies only in capitals ("99 all", "5 cup"). */
export const CODES_LIKE_WORDS: ReadonlySet<string> = new Set([
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
