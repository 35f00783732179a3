import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type DocPage, readPages } from '@orders/doc-pages/read-pages.ts';
import { type DocSite, renderPage, STYLESHEET } from '@orders/doc-pages/render-page.ts';
import express, { Router } from 'express';
import { compressResponses } from '../compress-responses.ts';
import { BUILT_PAGE } from '../serve-page.ts';

const HELP_LANGUAGES = ['en', 'ar'] as const;
type HelpLanguage = (typeof HELP_LANGUAGES)[number];

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
const HELP_TEXTS: Record<HelpLanguage, HelpTexts> = {
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

/** The container image has them at the same relative path. */
const DIRECTORY = resolve(import.meta.dirname, '../../../../docs/portal');

/** The pages of docs/portal in one language: the index, then the others in the order of its links. */
export function readHelpPages(language: HelpLanguage): DocPage[] {
  return readPages(join(DIRECTORY, language));
}

/**
 * `GET /help` and below: the pages of docs/portal, rendered when first asked for. They contain no account data and need no session, so that
 * people who cannot sign in can read them.
 */
export function helpPages(): Router {
  const router = Router({ caseSensitive: true });
  router.use('/help', compressResponses(), (_request, response, next) => {
    response.setHeader('Cache-Control', 'no-cache');
    next();
  });
  for (const [name, type, body] of [
    ['style.css', 'css', STYLESHEET + fontFaces() + readFileSync(join(import.meta.dirname, 'style.css'), 'utf8')],
    ['theme.js', 'js', readFileSync(join(import.meta.dirname, 'theme.js'), 'utf8')],
  ] as const) {
    router.get(`/help/${name}`, (_request, response) => {
      response.type(type).send(body);
    });
  }
  router.use('/help/pictures', express.static(join(DIRECTORY, 'pictures'), { index: false, cacheControl: false }));
  router.get('/help', (request, response) => {
    response.vary('Accept-Language').redirect(`/help/${request.acceptsLanguages(...HELP_LANGUAGES) || 'en'}`);
  });
  const sites = new Map<string, HelpSite>(HELP_LANGUAGES.map((language) => [language, createSite(language)]));
  router.get('/help/:language{/:page}', (request, response) => {
    const { language, page = '' } = request.params;
    const site = sites.get(language as string) ?? (sites.get('en') as HelpSite);
    const html = sites.has(language as string) ? site.htmlOf(page as string) : undefined;
    response
      .status(html === undefined ? 404 : 200)
      .type('html')
      .send(html ?? site.notFound());
  });
  return router;
}

/** The typeface's rules in the stylesheet of the built page, which name its files. */
function fontFaces(): string {
  const stylesheets = globSync('assets/index-*.css', { cwd: BUILT_PAGE });
  return stylesheets
    .flatMap((file) => readFileSync(join(BUILT_PAGE, file), 'utf8').match(/@font-face\s*\{[^}]*\}/g) ?? [])
    .join('\n');
}

interface HelpSite {
  /** HTML by the name in the path; the index has none. Undefined if there is no such page. */
  htmlOf(name: string): string | undefined;
  notFound(): string;
}

function createSite(language: HelpLanguage): HelpSite {
  const texts = HELP_TEXTS[language];
  const pages = readHelpPages(language);
  const site = siteOf(language);
  const notFound = { name: '', title: texts.notFound, markdown: `# ${texts.notFound}\n\n${texts.notFoundHint}\n` };
  const byPath = new Map(pages.map((page) => [page.name === 'README' ? '' : page.name, page]));
  const rendered = new Map<DocPage, string>();
  const render = (page: DocPage) => {
    const html = rendered.get(page) ?? renderPage(page, pages, site);
    rendered.set(page, html);
    return html;
  };
  return {
    htmlOf(name) {
      const page = byPath.get(name);
      return page && render(page);
    },
    notFound: () => render(notFound),
  };
}

function siteOf(language: HelpLanguage): DocSite {
  const { name, portal, direction, labels } = HELP_TEXTS[language];
  return {
    at: `/help/${language}`,
    name,
    language,
    direction,
    head: () => `<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/help/style.css">
<script src="/help/theme.js"></script>`,
    links: (page) => [
      ...HELP_LANGUAGES.filter((other) => other !== language).map((other) => ({
        href: ['', 'README'].includes(page.name) ? `/help/${other}` : `/help/${other}/${page.name}`,
        text: HELP_TEXTS[other].language,
        language: other,
      })),
      { href: '/', text: portal },
    ],
    labels,
  };
}
