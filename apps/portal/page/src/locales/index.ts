import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import english from './en/index.ts';

export const LANGUAGES = { en: 'English', ar: 'العربية' } as const;
export type Language = keyof typeof LANGUAGES;

const STORED = 'language';

/** The language chosen here before, else the browser's, else English. */
function preferred(): Language {
  const stored = localStorage.getItem(STORED);
  if (stored === 'en' || stored === 'ar') return stored;
  return navigator.language.startsWith('ar') ? 'ar' : 'en';
}

/** Loads the texts; those of the other language come when they are asked for. */
export async function startTexts(): Promise<void> {
  await i18next.use(initReactI18next).init({
    lng: 'en',
    fallbackLng: 'en',
    resources: { en: english },
    defaultNS: 'common',
    // React escapes already.
    interpolation: { escapeValue: false },
  });
  await speak(preferred());
}

/** Changes the language and the direction of the whole page, and remembers it. */
export async function speak(language: Language): Promise<void> {
  if (language === 'ar' && !i18next.hasResourceBundle('ar', 'common')) {
    const { default: arabic } = await import('./ar/index.ts');
    for (const [namespace, texts] of Object.entries(arabic)) i18next.addResourceBundle('ar', namespace, texts);
  }
  await i18next.changeLanguage(language);
  localStorage.setItem(STORED, language);
  document.documentElement.lang = language;
  document.documentElement.dir = language === 'ar' ? 'rtl' : 'ltr';
}

/** The locale for dates and numbers: Latin digits in both, as orders and phone numbers are written with them. */
export function locale(): string {
  return i18next.language === 'ar' ? 'ar-AE-u-nu-latn' : 'en-GB';
}
