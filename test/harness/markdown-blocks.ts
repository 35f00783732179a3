/** A fenced block of a page, with the heading above it. */
export interface Block {
  language: string;
  text: string;
  heading: string;
}

/** The fenced blocks of a page, in order, without the indentation of a surrounding list. */
export function readBlocks(markdown: string): Block[] {
  const blocks: Block[] = [];
  let heading = '';
  for (const [, title, indent, language, text] of markdown.matchAll(/^#+ (.+)$|^( *)```(\w*)\n([\s\S]*?)^ *```$/gm)) {
    if (title) heading = title;
    else
      blocks.push({
        language: language ?? '',
        text: (text ?? '').replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
        heading,
      });
  }
  return blocks;
}

/**
 * The blocks under a heading of any level, up to the next heading.
 *
 * @param language of the blocks; empty for blocks without one.
 * @throws {Error} if there is no such block.
 */
export function blocksUnder(markdown: string, heading: string, language: string): string[] {
  const blocks = readBlocks(markdown).filter((block) => block.heading === heading && block.language === language);
  if (blocks.length === 0) throw new Error(`the page has no block to paste under "${heading}"`);
  return blocks.map(({ text }) => text);
}
