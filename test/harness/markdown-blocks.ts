/** A fenced block of a page; `heading` is the one that it stands under. */
export interface Block {
  language: string;
  text: string;
  heading: string;
}

/** The fenced blocks of a page, in their order, without the indentation of a list that they stand in. */
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
 * The blocks under a heading of any level, up to the next heading, as a reader would paste them.
 *
 * @param language that of the blocks; empty for those without one.
 * @throws {Error} when the page has no such block there.
 */
export function blocksUnder(markdown: string, heading: string, language: string): string[] {
  const blocks = readBlocks(markdown).filter((block) => block.heading === heading && block.language === language);
  if (blocks.length === 0) throw new Error(`the page has no block to paste under "${heading}"`);
  return blocks.map(({ text }) => text);
}
