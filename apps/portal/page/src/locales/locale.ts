import i18next from 'i18next';

/** The locale for dates and numbers: in both languages with Latin digits, as in orders and phone numbers, and 24 hours. */
export function locale(): string {
  return i18next.language === 'ar' ? 'ar-AE-u-hc-h23-nu-latn' : 'en-GB';
}
