/**
 * How people write a currency beside its ISO 4217 code, as `foldMark` folds it: upper case, without points and blanks.
 * "$" and "dollar" alone are the US dollar, by the contract.
 */
export const CURRENCY_MARKS: Readonly<Record<string, readonly string[]>> = {
  AED: [
    ...['DH', 'DHS', 'DHM', 'DHMS', 'DIRHAM', 'DIRHAMS', 'UAEDIRHAM', 'UAEDIRHAMS', 'EMIRATIDIRHAM', '\u20c3'],
    ...['دإ', 'درهم', 'دراهم', 'درهما', 'درهمإماراتي', 'درهماماراتي', 'دراهمإماراتية', 'دراهماماراتية'],
  ],
  USD: ['$', 'US$', '$US', 'USD$', 'DOLLAR', 'DOLLARS', 'USDOLLAR', 'USDOLLARS', 'دولار', 'دولارأمريكي', 'دولارامريكي'],
  EUR: ['€', 'EURO', 'EUROS', 'يورو'],
  GBP: ['£', 'STERLING', 'POUNDSTERLING'],
  SAR: ['SR', 'SRS', 'SAUDIRIYAL', 'SAUDIRIYALS', '\u20c1', 'رس', 'ريالسعودي'],
  QAR: ['QR', 'QATARIRIYAL', 'QATARIRIYALS', 'رق', 'ريالقطري'],
  OMR: ['OMANIRIAL', 'OMANIRIALS', 'رع', 'ريالعماني'],
  KWD: ['KD', 'KUWAITIDINAR', 'KUWAITIDINARS', 'دك', 'ديناركويتي'],
  BHD: ['BD', 'BAHRAINIDINAR', 'BAHRAINIDINARS', 'دب', 'ديناربحريني'],
  JOD: ['JD', 'JORDANIANDINAR', 'دأ', 'دينارأردني', 'ديناراردني'],
  EGP: ['EGYPTIANPOUND', 'EGYPTIANPOUNDS', 'جم', 'جنيهمصري'],
  INR: ['₹', 'INDIANRUPEE', 'INDIANRUPEES'],
  PKR: ['PAKISTANIRUPEE', 'PAKISTANIRUPEES'],
  JPY: ['YEN'],
  CNY: ['YUAN', 'RMB'],
};

/** Marks of several currencies: they agree with each of these and name none. */
export const SHARED_MARKS: Readonly<Record<string, readonly string[]>> = {
  RS: ['INR', 'PKR', 'LKR', 'NPR', 'MUR', 'SCR'],
  RUPEE: ['INR', 'PKR', 'LKR', 'NPR', 'MUR', 'SCR'],
  RUPEES: ['INR', 'PKR', 'LKR', 'NPR', 'MUR', 'SCR'],
  روبية: ['INR', 'PKR', 'LKR', 'NPR', 'MUR', 'SCR'],
  RIYAL: ['SAR', 'QAR', 'OMR', 'YER', 'IRR'],
  RIYALS: ['SAR', 'QAR', 'OMR', 'YER', 'IRR'],
  RIAL: ['SAR', 'QAR', 'OMR', 'YER', 'IRR'],
  ريال: ['SAR', 'QAR', 'OMR', 'YER', 'IRR'],
  DINAR: ['KWD', 'BHD', 'JOD', 'IQD', 'LYD', 'TND', 'DZD', 'RSD'],
  DINARS: ['KWD', 'BHD', 'JOD', 'IQD', 'LYD', 'TND', 'DZD', 'RSD'],
  دينار: ['KWD', 'BHD', 'JOD', 'IQD', 'LYD', 'TND', 'DZD'],
  POUND: ['GBP', 'EGP', 'LBP', 'SYP', 'SDG', 'SSP'],
  POUNDS: ['GBP', 'EGP', 'LBP', 'SYP', 'SDG', 'SSP'],
  جنيه: ['GBP', 'EGP', 'SDG'],
  '¥': ['JPY', 'CNY'],
  KR: ['SEK', 'NOK', 'DKK', 'ISK'],
};
