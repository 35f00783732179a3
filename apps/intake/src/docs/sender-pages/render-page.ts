import { Marked } from 'marked';
import type { SenderPage } from './read-pages.ts';

/** Languages of code blocks that get a copy button. */
const COPYABLE = ['bash', 'shell'];

/**
 * Renders a page for senders as HTML without inline scripts or styles.
 *
 * @param at path of the pages.
 * @param reference path of the API reference.
 */
export function renderPage(page: SenderPage, pages: readonly SenderPage[], at: string, reference: string): string {
  const hrefOf = (name: string) => (name === 'README' ? at : `${at}/${name}`);
  const links = pages.map(({ name, title }) => {
    const current = name === page.name ? ' aria-current="page"' : '';
    return `<li><a href="${hrefOf(name)}"${current}>${escapeHtml(title)}</a></li>`;
  });
  const next = pages[pages.indexOf(page) + 1];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(page.title)} · Order ingestion</title>
<link rel="icon" href="${reference}/favicon-32x32.png">
<link rel="alternate" type="text/markdown" href="${at}/${page.name}.md">
<link rel="stylesheet" href="${at}/style.css">
<script src="${at}/copy.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header><a class="brand" href="${at}">Order ingestion</a><a href="${reference}">API reference</a></header>
<div class="columns">
<nav aria-label="Guides"><details><summary>Guides</summary><ul>${links.join('')}</ul></details></nav>
<main id="content">
${toHtml(page.markdown, hrefOf)}
${next ? `<p class="next">Next: <a rel="next" href="${hrefOf(next.name)}">${escapeHtml(next.title)}</a></p>` : ''}
</main>
</div>
</body>
</html>
`;
}

/** The id of a heading by GitHub's rule, so that links work in both places. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

function toHtml(markdown: string, hrefOf: (name: string) => string): string {
  const marked = new Marked({
    renderer: {
      heading({ depth, text, tokens }) {
        const id = anchorOf(text);
        const anchor = depth === 1 ? '' : ` <a class="anchor" href="#${id}" aria-label="Link to this part">#</a>`;
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

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
