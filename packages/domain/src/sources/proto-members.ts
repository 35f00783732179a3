import { toJsonPointer } from './json-pointer.ts';

/** Deeper than any mapping or settings; what is nested deeper is refused by their rules. */
const MAX_DEPTH = 10;

/** Pointers to own members with the name `__proto__`. Joi ignores them, and its clone has them as prototypes. */
export function protoMembers(input: unknown, path: readonly string[] = []): string[] {
  if (typeof input !== 'object' || input === null || path.length > MAX_DEPTH) return [];
  return Object.entries(input).flatMap(([name, value]) =>
    name === '__proto__' ? [toJsonPointer([...path, name])] : protoMembers(value, [...path, name]),
  );
}
