import { isUtf8 } from 'node:buffer';

/** Longer bodies are not parsed here. */
const MAX_BYTES = 16_384;
const MAX_DEPTH = 64;

/** Layouts of serializers: separator between members, colon, and indentation. */
const LAYOUTS = [
  { comma: ',', colon: ':', indent: '' },
  // Python's json.dumps.
  { comma: ', ', colon: ': ', indent: '' },
  { comma: ',', colon: ': ', indent: '  ' },
  // PHP's JSON_PRETTY_PRINT.
  { comma: ',', colon: ': ', indent: '    ' },
  { comma: ',', colon: ': ', indent: '\t' },
];

/** Escapes of serializers. They apply to the whole text, because the affected characters occur only inside strings. */
const ESCAPES: ((text: string) => string)[] = [
  // Python's ensure_ascii.
  escapeNonAscii,
  // PHP's json_encode.
  (text) => escapeNonAscii(text).replaceAll('/', '\\/'),
  (text) => text.replaceAll('/', '\\/'),
  // Go's json.Marshal.
  (text) => text.replace(/[<>&]/g, escapeUnit),
];

/**
 * Yields the body as common serializers would write it, likeliest first, without duplicates and without the body itself; nothing if the body
 * is too long or not JSON. Numbers are tried both as written and as JavaScript formats them.
 */
export function* reserializations(body: Buffer): Generator<string> {
  if (body.length > MAX_BYTES || !isUtf8(body)) return;
  const sent = body.toString('utf8');
  const seen = new Set([sent]);
  const plain: string[] = [];
  for (const text of layOut(valuesOf(sent))) {
    plain.push(text);
    yield* unseen(text, seen);
  }
  for (const change of ESCAPES) {
    for (const text of plain) yield* unseen(change(text), seen);
  }
}

/** Yields the text with and without a trailing line break. */
function* unseen(text: string, seen: Set<string>): Generator<string> {
  for (const variant of [text, `${text}\n`]) {
    if (!seen.has(variant)) yield variant;
    seen.add(variant);
  }
}

function* layOut(values: unknown[]): Generator<string> {
  for (const sorted of [false, true]) {
    for (const layout of LAYOUTS) {
      for (const value of values) yield write(value, layout, sorted);
    }
  }
}

type Layout = (typeof LAYOUTS)[number];

/** Marks an object that holds the source text of a number. */
const NUMBER = Symbol('number');

function valuesOf(text: string): unknown[] {
  try {
    let isChanged = false;
    const asWritten = JSON.parse(text, (_key, value, context?: { source?: string }) => {
      if (typeof value !== 'number') return value;
      isChanged ||= context?.source !== String(value);
      return { [NUMBER]: context?.source };
    });
    return isChanged ? [asWritten, JSON.parse(text)] : [asWritten];
  } catch {
    return [];
  }
}

function write(value: unknown, layout: Layout, sorted: boolean, depth = 1): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (NUMBER in value) return String(value[NUMBER]);
  if (depth > MAX_DEPTH) return '';
  const inner = (element: unknown) => write(element, layout, sorted, depth + 1);
  if (Array.isArray(value)) return enclose('[', value.map(inner), ']', layout, depth);
  const names = sorted ? Object.keys(value).sort((a, b) => (a < b ? -1 : 1)) : Object.keys(value);
  const members = names.map(
    (name) => `${JSON.stringify(name)}${layout.colon}${inner((value as Record<string, unknown>)[name])}`,
  );
  return enclose('{', members, '}', layout, depth);
}

function enclose(open: string, parts: string[], close: string, { comma, indent }: Layout, depth: number): string {
  if (parts.length === 0) return open + close;
  if (indent === '') return open + parts.join(comma) + close;
  const line = `\n${indent.repeat(depth)}`;
  return `${open}${line}${parts.join(comma + line)}\n${indent.repeat(depth - 1)}${close}`;
}

function escapeNonAscii(text: string): string {
  return text.replace(/[^\0-\x7f]/g, escapeUnit);
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
