import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import english from './en/index.ts';

export const LANGUAGES = { en: 'English', ar: 'العربية' } as const;
export type Language = keyof typeof LANGUAGES;

const STORED = 'language';

/** The stored language, else the browser's, else English. */
function preferredLanguage(): Language {
  const stored = localStorage.getItem(STORED);
  if (stored === 'en' || stored === 'ar') return stored;
  return navigator.language.startsWith('ar') ? 'ar' : 'en';
}

/** Loads English, and the preferred language if it is another one. */
export async function initLocales(): Promise<void> {
  await i18next.use(initReactI18next).init({
    lng: 'en',
    fallbackLng: 'en',
    resources: { en: english },
    defaultNS: 'common',
    // React escapes values.
    interpolation: { escapeValue: false },
  });
  await setLanguage(preferredLanguage());
}

/** Changes and stores the language, and sets the direction of the page. */
export async function setLanguage(language: Language): Promise<void> {
  if (language === 'ar' && !i18next.hasResourceBundle('ar', 'common')) {
    const { default: arabic } = await import('./ar/index.ts');
    for (const [namespace, texts] of Object.entries(arabic)) i18next.addResourceBundle('ar', namespace, texts);
  }
  await i18next.changeLanguage(language);
  localStorage.setItem(STORED, language);
  document.documentElement.lang = language;
  document.documentElement.dir = language === 'ar' ? 'rtl' : 'ltr';
}

/** The locale for dates and numbers, with Latin digits in both languages as in orders and phone numbers. */
export function locale(): string {
  return i18next.language === 'ar' ? 'ar-AE-u-nu-latn' : 'en-GB';
}
