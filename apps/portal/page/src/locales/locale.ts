import i18next from 'i18next';

/** The locale for dates and numbers, with Latin digits in both languages as in orders and phone numbers. */
export function locale(): string {
  return i18next.language === 'ar' ? 'ar-AE-u-nu-latn' : 'en-GB';
}
