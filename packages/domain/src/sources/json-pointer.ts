/** Deeper than any mapping or settings; what is nested deeper is rejected by their rules. */
const MAX_DEPTH = 10;

/** Pointers to own members with the name `__proto__`. Joi ignores them, and its clone has them as prototypes. */
export function protoMembers(input: unknown, path: readonly string[] = []): string[] {
  if (typeof input !== 'object' || input === null || path.length > MAX_DEPTH) return [];
  return Object.entries(input).flatMap(([name, value]) =>
    name === '__proto__' ? [toJsonPointer([...path, name])] : protoMembers(value, [...path, name]),
  );
}

/** Max length of a pointer in a mapping or in settings. */
export const MAX_POINTER = 255;

const POINTER = /^(?:\/(?:[^~/]|~[01])*)+$/;

/** Whether a text is a JSON Pointer (RFC 6901) to something inside a document. */
export function isJsonPointer(text: string): boolean {
  return POINTER.test(text);
}

/** The segments of a JSON Pointer, unescaped. */
export function pointerSegments(pointer: string): string[] {
  return pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

export function toJsonPointer(segments: readonly (string | number)[]): string {
  return segments.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The value that a JSON Pointer leads to; undefined if there is none. Only own members are found. */
export function valueAt(document: unknown, pointer: string): unknown {
  return valueAtSegments(document, pointerSegments(pointer));
}

/** The same, of a pointer that was split by `pointerSegments`. */
export function valueAtSegments(document: unknown, segments: readonly string[]): unknown {
  let value = document;
  for (const segment of segments) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (!Object.hasOwn(value, segment)) return undefined;
    // The only own member of an array that is no entry.
    if (segment === 'length' && Array.isArray(value)) return undefined;
    value = (value as Record<string, unknown>)[segment];
  }
  return value;
}
