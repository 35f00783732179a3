import { applyEdits, format, type Node, parseTree } from 'jsonc-parser';

/** A stretch of the raw payload; those with a pointer are the members that warnings point at. */
export interface Stretch {
  text: string;
  pointer: string | null;
}

/** The same JSON on lines of its own. Only blanks change: every number and text keeps its spelling. */
export function indented(text: string): string {
  const plain = text.replace(/^\uFEFF/, '');
  return applyEdits(plain, format(plain, undefined, { tabSize: 2, insertSpaces: true, eol: '\n' }));
}

/** Cuts the raw payload where members begin and end that `pointers` (RFC 6901) name. What cannot be found stays unmarked. */
export function cutAtPointers(text: string, pointers: Iterable<string>): Stretch[] {
  // A byte order mark is no JSON; a blank in its place keeps every offset.
  const tree = parseTree(text.replace(/^\uFEFF/, ' '));
  const marks = [...new Set(pointers)].flatMap((pointer) => {
    const node = tree && pointer !== '' ? findMember(tree, pointer) : undefined;
    return node ? [{ pointer, ...extentOf(node) }] : [];
  });
  marks.sort((a, b) => a.from - b.from);
  const stretches: Stretch[] = [];
  let at = 0;
  for (const { pointer, from, to } of marks) {
    if (from < at) continue;
    stretches.push({ text: text.slice(at, from), pointer: null }, { text: text.slice(from, to), pointer });
    at = to;
  }
  return [...stretches, { text: text.slice(at), pointer: null }].filter((stretch) => stretch.text !== '');
}

/** The member or list entry at a pointer; of duplicate members the last counts. */
function findMember(root: Node, pointer: string): Node | undefined {
  let value: Node | undefined = root;
  let member: Node | undefined;
  for (const token of pointer.slice(1).split('/')) {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (value?.type === 'array') member = value.children?.[Number(name)];
    else member = value?.children?.findLast((one) => one.children?.[0]?.value === name);
    value = member?.type === 'property' ? member.children?.[1] : member;
  }
  return member;
}

/** A member with its value; of one that holds others only its name or its opening bracket, so that marks never overlap. */
function extentOf(node: Node): { from: number; to: number } {
  const [name, value] = node.type === 'property' ? (node.children ?? []) : [undefined, node];
  const from = node.offset;
  if (value?.type === 'object' || value?.type === 'array')
    return { from, to: name ? name.offset + name.length : from + 1 };
  return { from, to: node.offset + node.length };
}
