import i18next, { type BackendModule, type FormatterModule, type InitOptions } from 'i18next';
import { initReactI18next } from 'react-i18next';
import { formatCount } from '../components/numbers.ts';

export { locale } from './locale.ts';

export const LANGUAGES = { en: 'English', ar: 'العربية' } as const;
export type Language = keyof typeof LANGUAGES;

const STORED = 'language';

const files = import.meta.glob<Record<string, unknown>>('./*/*.json', { import: 'default' });

/** Loads the texts of one namespace: `signIn` is in `sign-in.json`. */
async function readTexts(language: string, namespace: string): Promise<Record<string, unknown>> {
  const name = namespace.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const load = files[`./${language}/${name}.json`];
  if (!load) throw new Error(`there are no texts ${language}/${name}`);
  return load();
}

const backend: BackendModule = { type: 'backend', init() {}, read: readTexts };

/** Formats every number in a text, except ids. */
const formatter: FormatterModule = {
  type: 'formatter',
  init() {},
  add() {},
  addCached() {},
  format: (value, _format, _language, options) =>
    typeof value === 'number' && options?.interpolationkey !== 'id' ? formatCount(value) : value,
};

/** The stored language, else the browser's, else English. */
function preferredLanguage(): Language {
  const stored = localStorage.getItem(STORED);
  if (stored === 'en' || stored === 'ar') return stored;
  return navigator.language.startsWith('ar') ? 'ar' : 'en';
}

let current = preferredLanguage();
let ready: Promise<unknown> = Promise.resolve();

/**
 * Loads, in the preferred language, the texts that every page needs; those of each page follow when it is opened.
 *
 * @throws if they cannot be loaded. The promise of i18next itself would be fulfilled, and the page show keys.
 */
export async function initLocales(): Promise<void> {
  applyLanguage();
  const options: InitOptions = {
    lng: current,
    // Both languages have every text. Forms of a number that read the same stand once, without a suffix.
    fallbackLng: false,
    ns: ['common'],
    defaultNS: 'common',
    // React escapes values.
    interpolation: { escapeValue: false, alwaysFormat: true },
  };
  ready = new Promise<void>((resolve, reject) => {
    const end = (errors: unknown) => (errors ? reject(new Error('the texts did not load')) : resolve());
    void i18next.use(backend).use(formatter).use(initReactI18next).init(options, end);
  });
  await ready;
}

/** Loads texts together with the code of a page, not after it. */
export async function loadTexts(namespaces: readonly string[]): Promise<void> {
  await Promise.all([ready, ...namespaces.map((namespace) => readTexts(current, namespace))]);
  await i18next.loadNamespaces(namespaces);
}

/** The texts of a namespace in each language: a customer may read another one than the page's. */
export async function readInAllLanguages(namespace: string): Promise<Record<Language, Record<string, unknown>>> {
  const [en, ar] = await Promise.all([readTexts('en', namespace), readTexts('ar', namespace)]);
  return { en, ar };
}

/** Changes and stores the language, and sets the direction of the page. If its texts cannot be loaded, throws and changes nothing. */
export async function setLanguage(language: Language): Promise<void> {
  const namespaces = Object.keys(i18next.getDataByLanguage(current) ?? {});
  await Promise.all(namespaces.map((namespace) => readTexts(language, namespace)));
  await i18next.changeLanguage(language);
  current = language;
  localStorage.setItem(STORED, language);
  applyLanguage();
}

/** Also loads the regular font of the language, before its first text is there. */
function applyLanguage(): void {
  document.documentElement.lang = current;
  document.documentElement.dir = current === 'ar' ? 'rtl' : 'ltr';
  const [family, sample] = current === 'ar' ? ['IBM Plex Sans Arabic', 'ع'] : ['IBM Plex Sans', 'a'];
  // Without it, texts show in a font of the system.
  document.fonts.load(`1em "${family}"`, sample).catch(() => {});
}
