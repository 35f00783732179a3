import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

const PAGE = resolve(import.meta.dirname, '../../docs/operating.md');

/**
 * The code blocks of docs/operating.md under a heading of level two or deeper, up to the next heading of any level, as a reader would paste them. Blocks with a
 * language, which are not for a shell, are left out.
 *
 * @throws {Error} when there is no such heading, or no block under it.
 */
export async function readBlocks(heading: string): Promise<string[]> {
  const sections = (await readFile(PAGE, 'utf8')).split(/^#{2,6} /m);
  const section = sections.find((text) => text.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`docs/operating.md has no section "${heading}"`);
  const blocks = [...section.matchAll(/^( *)```\n([\s\S]*?)^ *```$/gm)].map(([, indent = '', text = '']) =>
    text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
  if (blocks.length === 0) throw new Error(`section "${heading}" of docs/operating.md has no block to paste`);
  return blocks;
}
