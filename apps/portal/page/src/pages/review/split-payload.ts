import { applyEdits, format, type Node, parseTree } from 'jsonc-parser';

/** A part of the raw payload; `pointer` is set for a member with a warning. */
export interface PayloadPart {
  text: string;
  pointer: string | null;
}

/** Pretty-prints JSON. Only whitespace changes: numbers and strings keep their spelling. */
export function indent(text: string): string {
  const json = text.replace(/^\uFEFF/, '');
  return applyEdits(json, format(json, undefined, { tabSize: 2, insertSpaces: true, eol: '\n' }));
}

/** Splits the raw payload at the members that `pointers` (RFC 6901) name. Pointers without a member are ignored. */
export function splitAtPointers(text: string, pointers: Iterable<string>): PayloadPart[] {
  // A byte order mark is not JSON; a space in its place keeps the offsets.
  const tree = parseTree(text.replace(/^\uFEFF/, ' '));
  const marks = [...new Set(pointers)].flatMap((pointer) => {
    const node = tree && pointer !== '' ? findMember(tree, pointer) : undefined;
    return node ? [{ pointer, ...rangeOf(node) }] : [];
  });
  marks.sort((a, b) => a.from - b.from);
  const parts: PayloadPart[] = [];
  let at = 0;
  for (const { pointer, from, to } of marks) {
    if (from < at) continue;
    parts.push({ text: text.slice(at, from), pointer: null }, { text: text.slice(from, to), pointer });
    at = to;
  }
  return [...parts, { text: text.slice(at), pointer: null }].filter((stretch) => stretch.text !== '');
}

/** The member or array element at a pointer (RFC 6901); the last of duplicate members wins. */
export function findMember(root: Node, pointer: string): Node | undefined {
  let value: Node | undefined = root;
  let member: Node | undefined;
  for (const token of pointer.slice(1).split('/')) {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (value?.type === 'array') member = value.children?.[Number(name)];
    else member = value?.children?.findLast((child) => child.children?.[0]?.value === name);
    value = member?.type === 'property' ? member.children?.[1] : member;
  }
  return member;
}

/** The range of a member with its value. For objects and arrays only the name or the opening bracket, so that ranges never overlap. */
function rangeOf(node: Node): { from: number; to: number } {
  const [name, value] = node.type === 'property' ? (node.children ?? []) : [undefined, node];
  const from = node.offset;
  if (value?.type === 'object' || value?.type === 'array')
    return { from, to: name ? name.offset + name.length : from + 1 };
  return { from, to: node.offset + node.length };
}
