import { pointerSegments } from '@orders/domain/sources/json-pointer.ts';
import { type Node, parseTree } from 'jsonc-parser';

/** The member or array element at a pointer (RFC 6901); the last of duplicate members wins. */
export function findMember(root: Node, pointer: string): Node | undefined {
  let value: Node | undefined = root;
  let member: Node | undefined;
  for (const name of pointerSegments(pointer)) {
    if (value?.type === 'array') member = value.children?.[Number(name)];
    else member = value?.children?.findLast((child) => child.children?.[0]?.value === name);
    value = member?.type === 'property' ? member.children?.[1] : member;
  }
  return member;
}

/** Levels of nesting that are written out; deeper values stay as JSON. */
const MAX_DEPTH = 3;

/** The value at a pointer of the payload as readable text, or null if there is none. Numbers keep their spelling. */
export function payloadValue(payload: string, pointer: string): string | null {
  const text = payload.replace(/^\uFEFF/, ' ');
  const tree = parseTree(text);
  const member = tree && findMember(tree, pointer);
  const value = member?.type === 'property' ? member.children?.[1] : member;
  return value ? readable(value, text, 0) : null;
}

function readable(node: Node, text: string, depth: number): string {
  const children = node.children ?? [];
  if (node.type === 'string') return String(node.value);
  if (depth >= MAX_DEPTH || (node.type !== 'object' && node.type !== 'array'))
    return text.slice(node.offset, node.offset + node.length);
  if (children.length === 0) return '–';
  const indent = '  '.repeat(depth);
  if (node.type === 'array') {
    if (children.every(({ type }) => type !== 'object' && type !== 'array'))
      return children.map((child) => readable(child, text, depth + 1)).join(', ');
    return children.map((child, index) => line(String(index + 1), child)).join('\n');
  }
  return children
    .flatMap(({ children: [name, value] = [] }) => (value ? line(String(name?.value), value) : []))
    .join('\n');

  function line(name: string, value: Node): string {
    const isNested = (value.type === 'object' || value.type === 'array') && (value.children?.length ?? 0) > 0;
    const shown = readable(value, text, depth + 1);
    return `${indent}${name}:${isNested && shown.includes('\n') ? '\n' : ' '}${shown}`;
  }
}
