import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** The image holds them at the same place beside the apps. */
const DIRECTORY = resolve(import.meta.dirname, '../../../../../docs/senders');

/** One page for senders, as it is written. */
export interface SenderPage {
  /** Its file without `.md`; that of the first is `README`. */
  name: string;
  /** Its first heading. */
  title: string;
  markdown: string;
}

/** The pages of docs/senders, in the order in which the first, the index, links to them. */
export function readSenderPages(): SenderPage[] {
  const index = readPage('README');
  const linked = [...index.markdown.matchAll(/\]\(([\w-]+)\.md\)/g)].map(([, name]) => name as string);
  return [index, ...[...new Set(linked)].map(readPage)];
}

function readPage(name: string): SenderPage {
  const markdown = readFileSync(resolve(DIRECTORY, `${name}.md`), 'utf8');
  return { name, title: /^# (.+)$/m.exec(markdown)?.[1] ?? name, markdown };
}
