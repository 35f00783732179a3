import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** The container image has them at the same relative path. */
const DIRECTORY = resolve(import.meta.dirname, '../../../../../docs/senders');

/** The source of one page for senders. */
export interface SenderPage {
  /** File name without `.md`; the index is `README`. */
  name: string;
  /** The first heading. */
  title: string;
  markdown: string;
}

/** The pages of docs/senders: the index, then the others in the order of its links. */
export function readSenderPages(): SenderPage[] {
  const index = readPage('README');
  const linked = [...index.markdown.matchAll(/\]\(([\w-]+)\.md\)/g)].map(([, name]) => name as string);
  return [index, ...[...new Set(linked)].map(readPage)];
}

function readPage(name: string): SenderPage {
  const markdown = readFileSync(resolve(DIRECTORY, `${name}.md`), 'utf8');
  return { name, title: /^# (.+)$/m.exec(markdown)?.[1] ?? name, markdown };
}
