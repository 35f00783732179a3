import { globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { DocPage } from '@orders/doc-pages/read-pages.ts';
import { WARNINGS } from '@orders/domain/normalize/warnings.ts';
import { severityOfWarning } from '@orders/domain/severity.ts';
import { readHelpPages } from '@orders/portal/help/help-pages.ts';
import { expectAccessible, openPage } from '../harness/browser.ts';
import { describeWith } from '../harness/programs.ts';
import { useStack } from '../harness/use-stack.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const DIRECTORY = join(ROOT, 'docs/portal');
const LANGUAGES = ['en', 'ar'] as const;
const PAGES = { en: readHelpPages('en'), ar: readHelpPages('ar') };
const pathOf = (language: string, name: string) =>
  name === 'README' ? `/help/${language}` : `/help/${language}/${name}`;
const ALL = LANGUAGES.flatMap((language) => PAGES[language].map(({ name }) => pathOf(language, name)));

const { portal } = useStack({ portal: true });

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(new URL(path, portal.url), { headers, redirect: 'manual' });
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, match]) => match as string);
const idsOf = (html: string) => matches(html, / id="([^"]+)"/g);

describe('the help', () => {
  test.each(ALL)('%s needs no session, and each link, picture and anchor in it exists', async (path) => {
    const reply = await get(path);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = reply.headers.get('content-security-policy') as string;
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    const html = await reply.text();
    expect(html).not.toMatch(/ style=| on\w+="|<script>|\*\*/);
    const ids = idsOf(html);
    expect(ids).toEqual([...new Set(ids)]);
    for (const reference of new Set(matches(html, / (?:src|href)="([^"]+)"/g))) {
      const url = new URL(reference, portal.url + path);
      expect(url.origin).toBe(new URL(portal.url).origin);
      const target = await get(url.pathname);
      const anchor = decodeURIComponent(url.hash.slice(1));
      const found = target.status === 200 && (anchor === '' || idsOf(await target.text()).includes(anchor));
      expect({ reference, found }).toEqual({ reference, found: true });
    }
  });

  test('both languages have the same pages, in the same order, with the same anchors and pictures', () => {
    const outline = ({ name, markdown }: DocPage) => ({
      name,
      anchors: matches(markdown, /<a id="([^"]+)">/g),
      headings: matches(markdown, /^(#+) /gm),
      pictures: matches(markdown, /\]\((\.\.\/pictures\/[\w-]+)-(?:en|ar)\.\w+\)/g),
      links: matches(markdown, /\]\(([\w-]+\.md[^)]*)\)/g).toSorted((one, other) => one.localeCompare(other)),
    });
    expect(PAGES.ar.map(outline)).toEqual(PAGES.en.map(outline));
    expect(PAGES.en.length).toBeGreaterThan(15);
  });

  test.each(LANGUAGES)('each file of docs/portal/%s is a page of the index', (language) => {
    const files = readdirSync(join(DIRECTORY, language));
    expect(new Set(files)).toEqual(new Set(PAGES[language].map(({ name }) => `${name}.md`)));
  });

  // docs/portal writes texts of the portal in bold, and nothing else.
  test.each(LANGUAGES)('the texts in bold in %s are texts of the portal', (language) => {
    const texts = textsOf(language);
    const unknown = PAGES[language].flatMap(({ name, markdown }) =>
      matches(markdown, /\*\*([^*]+)\*\*/g)
        .map((text) => text.replaceAll(/\s+/g, ' '))
        .filter((text) => !texts.some((pattern) => pattern.test(text)))
        .map((text) => `${name}: ${text}`),
    );
    expect(unknown).toEqual([]);
  });

  test.each(LANGUAGES)('the list of warnings in %s has each warning to check at its code', (language) => {
    const { markdown } = PAGES[language].find(({ name }) => name === 'warning-list') as DocPage;
    const listed = new Map(
      [...markdown.matchAll(/<a id="(\w+)"><\/a>\*\*([^*]+)\*\*/g)].map(([, code, text]) => [code, squeeze(text)]),
    );
    const { warning } = JSON.parse(readFileSync(join(LOCALES, language, 'review.json'), 'utf8'));
    // The last one is of the worker, about an order and not about its payload.
    const codes = [...Object.keys(WARNINGS), 'ordered_again'].filter((code) => severityOfWarning(code) === 'check');
    const expected = codes.map((code) => [code, squeeze(warning[code])] as const);
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(expected));
  });

  test('each link from the portal to the help leads to a page and an anchor of it', () => {
    const sources = globSync('apps/portal/page/src/**/*.tsx', { cwd: ROOT }).map((file) =>
      readFileSync(join(ROOT, file), 'utf8'),
    );
    const links = sources.flatMap((source) => [
      ...source.matchAll(/<HelpLink(?=[\s>/])(?:\s+page="([^"]*)")?(?:\s+anchor="([^"]*)")?/g),
    ]);
    expect(links.length).toBeGreaterThan(4);
    for (const [link, page = 'README', anchor] of links) {
      const markdown = PAGES.en.find(({ name }) => name === page)?.markdown;
      expect([link, markdown !== undefined]).toEqual([link, true]);
      if (anchor) expect(markdown).toContain(`<a id="${anchor}"></a>`);
    }
  });

  test.each(LANGUAGES)('an unknown page in %s is 404, as a page with the contents', async (language) => {
    for (const page of ['none', 'README', encodeURIComponent('../../README.md'), 'pictures']) {
      const reply = await get(`/help/${language}/${page}`);
      expect([page, reply.status, reply.headers.get('content-type')]).toEqual([page, 404, 'text/html; charset=utf-8']);
      const html = await reply.text();
      expect(html).toContain(`<html lang="${language}"`);
      for (const { name } of PAGES[language]) expect(html).toContain(`href="${pathOf(language, name)}"`);
    }
  });

  test('an unknown language is 404 in English', async () => {
    const reply = await get('/help/fr/warnings');
    expect(reply.status).toBe(404);
    expect(await reply.text()).toContain('<html lang="en">');
  });

  test.each([
    ['ar-AE,ar;q=0.9,en;q=0.8', '/help/ar'],
    ['en-GB', '/help/en'],
    ['fr', '/help/en'],
  ])('/help leads a browser that asks for %s to %s', async (languages, location) => {
    const reply = await get('/help', { 'Accept-Language': languages });
    expect([reply.status, reply.headers.get('location')]).toEqual([302, location]);
    expect(reply.headers.get('vary')).toContain('Accept-Language');
  });

  test('the pictures are small', () => {
    for (const picture of globSync('pictures/*', { cwd: DIRECTORY })) {
      const { size } = statSync(join(DIRECTORY, picture));
      expect({ picture, isSmall: size < 100_000 }).toEqual({ picture, isSmall: true });
    }
  });
});

const isFull = process.env.TEST_FULL === 'on';
/** All pages have one template, so that axe checks only some of them, with every kind of content, unless all tests run. */
const hasAxe = (name: string) => isFull || ['README', 'warning-list', 'connect-shop', 'review-orders'].includes(name);

describeWith('chromium')('the help in a browser', () => {
  test.each(LANGUAGES)(
    'each page in %s is accessible and fits, light on a desktop and dark on a phone',
    async (language) => {
      const page = await openPage();
      for (const { name } of PAGES[language]) {
        await page.emulateMedia({ colorScheme: 'light' });
        await page.setViewportSize({ width: 1280, height: 800 });
        await page.goto(portal.url + pathOf(language, name));
        expect(await page.evaluate('document.documentElement.dir')).toBe(language === 'ar' ? 'rtl' : '');
        if (hasAxe(name)) await expectAccessible(page);
        await page.emulateMedia({ colorScheme: 'dark' });
        await page.setViewportSize({ width: 320, height: 700 });
        const contents = page.getByRole('navigation').getByRole('link');
        if (name === 'README') expect(await contents.count()).toBe(0);
        else {
          expect(await contents.first().isVisible()).toBe(false);
          await page.locator('summary').click();
          await contents.last().waitFor();
        }
        if (hasAxe(name)) await expectAccessible(page);
        const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        expect({ name, overflow }).toEqual({ name, overflow: 0 });
      }
    },
  );

  test('a reader changes page and language and returns to the portal, in the appearance chosen there', async () => {
    const page = await openPage({ colorScheme: 'light' });
    await page.goto(portal.url);
    await page.evaluate(`localStorage.setItem('theme', 'dark')`);
    await page.goto(`${portal.url}/help/en`);
    expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark');
    await page.getByRole('main').getByRole('link', { name: 'Keyboard shortcuts' }).click();
    await page.getByRole('link', { name: 'العربية' }).click();
    await page.waitForURL('**/help/ar/shortcuts');
    await page.locator('h1', { hasText: 'اختصارات لوحة المفاتيح' }).waitFor();
    await page.getByRole('link', { name: 'فتح البوابة' }).click();
    await page.locator('input[type="email"]').waitFor();
  });
});

const LOCALES = join(ROOT, 'apps/portal/page/src/locales');

/** The texts of the portal's page in a language as patterns; a placeholder matches anything, and an ellipsis at the end may be left out. */
function textsOf(language: string): RegExp[] {
  const leaves = (value: unknown): string[] =>
    typeof value === 'string' ? [value] : Object.values(value as object).flatMap(leaves);
  return globSync('*.json', { cwd: join(LOCALES, language) })
    .flatMap((file) => leaves(JSON.parse(readFileSync(join(LOCALES, language, file), 'utf8'))))
    .map((text) => {
      const parts = squeeze(text)
        .replace(/…$/, '')
        .split(/\{\{\w+\}\}/);
      return new RegExp(`^${parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.+')}…?$`);
    });
}

/** Without the marks that isolate Latin words in Arabic text, and with single spaces. */
function squeeze(text: string | undefined): string {
  return (text ?? '').replaceAll(/[\u2066-\u2069]/g, '').replaceAll(/\s+/g, ' ');
}
