import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked } from 'marked';
import type { DocPage } from './read-pages.ts';

/** Languages of code blocks that get a copy button. */
const COPYABLE = ['bash', 'shell'];

/** The id of a heading by GitHub's rule, so that links work in both places. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

/**
 * @param hrefOf path of a page by its name.
 * @param anchorLabel label of the link at each heading.
 */
function toHtml(markdown: string, hrefOf: (name: string) => string, anchorLabel: string): string {
  const marked = new Marked({
    renderer: {
      heading({ depth, text, tokens }) {
        const id = anchorOf(text);
        const anchor = depth === 1 ? '' : ` <a class="anchor" href="#${id}" aria-label="${anchorLabel}">#</a>`;
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}${anchor}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const [, name, anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
        return `<a href="${escapeHtml(name ? hrefOf(name) + anchor : href)}">${this.parser.parseInline(tokens)}</a>`;
      },
      // Long names may wrap after an underscore.
      codespan: ({ text }) => `<code>${escapeHtml(text).replaceAll('_', '_<wbr>')}</code>`,
      // Checklists are static: nothing stores what is ticked.
      checkbox: () => '<span class="box" aria-hidden="true">☐</span> ',
      // Scrollable blocks must be reachable by keyboard.
      code({ text, lang = '' }) {
        const block = `<pre tabindex="0"><code>${escapeHtml(text)}\n</code></pre>`;
        if (COPYABLE.includes(lang))
          return `<div class="code">${block}<button type="button" class="copy" hidden>Copy</button></div>\n`;
        return `<div class="shown">${lang === 'text' ? '<p class="label">Output</p>' : ''}${block}</div>\n`;
      },
    },
    hooks: {
      postprocess: (html) =>
        html.replaceAll('<table>', '<div class="table" tabindex="0"><table>').replaceAll('</table>', '</table></div>'),
    },
  });
  return marked.parse(markdown, { async: false });
}

/** The stylesheet of all pages, for light and dark and both writing directions. */
export const STYLESHEET = ['frame.css', 'content.css']
  .map((name) => readFileSync(join(import.meta.dirname, name), 'utf8'))
  .join('\n');

/** What the pages of one directory have in common. */
export interface DocSite {
  /** Path of the index; the other pages are below it. */
  at: string;
  name: string;
  language: string;
  direction?: 'rtl' | undefined;
  /** Tags for the head of a page: icon, stylesheets, scripts. */
  head: (page: DocPage) => string;
  /** Links in the header. */
  links: (page: DocPage) => { href: string; text: string; language?: string }[];
  labels: { contents: string; skip: string; next: string; anchor: string };
}

/** Renders a page as HTML without inline scripts or styles. */
export function renderPage(page: DocPage, pages: readonly DocPage[], site: DocSite): string {
  const { at, labels } = site;
  const hrefOf = (name: string) => (name === 'README' ? at : `${at}/${name}`);
  const next = pages.includes(page) ? pages[pages.indexOf(page) + 1] : undefined;
  const links = site.links(page).map(({ href, text, language }) => {
    const attributes = language ? ` lang="${language}" hreflang="${language}"` : '';
    return `<a href="${href}"${attributes}>${escapeHtml(text)}</a>`;
  });
  const list = `<details><summary>${labels.contents}</summary>${contents(page, pages, hrefOf)}</details>`;
  // The index is a list of all pages itself.
  const nav = page.name === 'README' ? '' : `<nav aria-label="${labels.contents}">${list}</nav>`;
  return `<!doctype html>
<html lang="${site.language}"${site.direction ? ` dir="${site.direction}"` : ''}>
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(page.title)} · ${escapeHtml(site.name)}</title>
${site.head(page)}
</head>
<body>
<a class="skip" href="#content">${labels.skip}</a>
<header><a class="brand" href="${at}">${escapeHtml(site.name)}</a>${links.join('')}</header>
<div class="columns">
${nav}
<main id="content">
${toHtml(page.markdown, hrefOf, labels.anchor)}
${next ? `<p class="next">${labels.next}: <a rel="next" href="${hrefOf(next.name)}">${escapeHtml(next.title)}</a></p>` : ''}
</main>
</div>
</body>
</html>
`;
}

/** The list of pages, one list for each section. */
function contents(page: DocPage, pages: readonly DocPage[], hrefOf: (name: string) => string): string {
  const sections = Map.groupBy(pages, ({ section }) => section);
  return [...sections]
    .map(([section, members]) => {
      const items = members.map(({ name, title }) => {
        const current = name === page.name ? ' aria-current="page"' : '';
        return `<li><a href="${hrefOf(name)}"${current}>${escapeHtml(title)}</a></li>`;
      });
      return `${section ? `<p class="section">${escapeHtml(section)}</p>` : ''}<ul>${items.join('')}</ul>`;
    })
    .join('');
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
