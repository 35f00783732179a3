export const HELP_LANGUAGES = ['en', 'ar'] as const;
export type HelpLanguage = (typeof HELP_LANGUAGES)[number];

interface HelpTexts {
  /** The name of the language in itself. */
  language: string;
  direction?: 'rtl';
  name: string;
  portal: string;
  notFound: string;
  notFoundHint: string;
  labels: { contents: string; skip: string; next: string; anchor: string };
}

/** The texts around the help pages. */
export const HELP_TEXTS: Record<HelpLanguage, HelpTexts> = {
  en: {
    language: 'English',
    name: 'Help for the orders portal',
    portal: 'Open the portal',
    notFound: 'This help page does not exist',
    notFoundHint: 'It may have been renamed. The contents list all pages.',
    labels: { contents: 'Contents', skip: 'Skip to content', next: 'Next', anchor: 'Link to this section' },
  },
  ar: {
    language: 'العربية',
    direction: 'rtl',
    name: 'مساعدة بوابة الطلبات',
    portal: 'فتح البوابة',
    notFound: 'صفحة المساعدة هذه غير موجودة',
    notFoundHint: 'ربما تغيّر اسمها. تجد كل الصفحات في قائمة المحتويات.',
    labels: { contents: 'المحتويات', skip: 'انتقل إلى المحتوى', next: 'التالي', anchor: 'رابط هذا القسم' },
  },
};
