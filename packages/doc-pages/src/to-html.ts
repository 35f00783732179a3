import { Marked } from 'marked';
import { escapeHtml } from './escape-html.ts';

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
export function toHtml(markdown: string, hrefOf: (name: string) => string, anchorLabel: string): string {
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
