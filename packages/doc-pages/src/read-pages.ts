import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** The source of one page. */
export interface DocPage {
  /** File name without `.md`; the index is `README`. */
  name: string;
  /** The first heading. */
  title: string;
  /** The heading of the index above the first link to the page. */
  section?: string | undefined;
  markdown: string;
}

/** The pages of a directory: the index, then the others in the order of its links. */
export function readPages(directory: string): DocPage[] {
  const index = readPage(directory, 'README');
  const sections = new Map<string, string | undefined>();
  let section: string | undefined;
  for (const [, heading, name] of index.markdown.matchAll(/^## (.+)$|\]\(([\w-]+)\.md\)/gm)) {
    if (heading) section = heading;
    else if (name && !sections.has(name)) sections.set(name, section);
  }
  return [index, ...[...sections].map(([name, section]) => ({ ...readPage(directory, name), section }))];
}

function readPage(directory: string, name: string): DocPage {
  const markdown = readFileSync(resolve(directory, `${name}.md`), 'utf8');
  return { name, title: /^# (.+)$/m.exec(markdown)?.[1] ?? name, markdown };
}
