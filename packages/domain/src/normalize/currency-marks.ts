/**
 * How people write a currency beside its ISO 4217 code, in upper case and without points and blanks. A sign of several
 * currencies (¥, kr, Rs) names none of them and is not listed; "$" alone is the US dollar, by the contract.
 */
export const CURRENCY_MARKS: Readonly<Record<string, string>> = {
  DH: 'AED',
  DHS: 'AED',
  DIRHAM: 'AED',
  DIRHAMS: 'AED',
  UAEDIRHAM: 'AED',
  دإ: 'AED',
  درهم: 'AED',
  دراهم: 'AED',
  $: 'USD',
  US$: 'USD',
  '€': 'EUR',
  '£': 'GBP',
  '₹': 'INR',
  SR: 'SAR',
  رس: 'SAR',
  ريال: 'SAR',
  '﷼': 'SAR',
  QR: 'QAR',
  رق: 'QAR',
  KD: 'KWD',
  دك: 'KWD',
  BD: 'BHD',
  دب: 'BHD',
  رع: 'OMR',
};
