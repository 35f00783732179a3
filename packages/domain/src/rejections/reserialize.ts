import { isUtf8 } from 'node:buffer';

/** Longer bodies are not parsed here. */
const MAX_BYTES = 16_384;
const MAX_DEPTH = 64;

/** Separators and indentation of a serializer. */
interface Layout {
  comma: string;
  colon: string;
  indent: string;
}

const ONE_LINE: readonly Layout[] = [
  { comma: ',', colon: ':', indent: '' },
  // Python's json.dumps.
  { comma: ', ', colon: ': ', indent: '' },
];
const INDENTED: readonly Layout[] = [
  { comma: ',', colon: ': ', indent: '  ' },
  // PHP's JSON_PRETTY_PRINT.
  { comma: ',', colon: ': ', indent: '    ' },
  { comma: ',', colon: ': ', indent: '\t' },
];

/** Which objects have their members sorted: Python's sort_keys and Go's maps sort all, PHP's ksort only the outermost. */
const SORTED = ['none', 'all', 'outermost'] as const;
type Sorted = (typeof SORTED)[number];

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

/** What a serializer would write. */
interface Form {
  text: string;
  isSorted: boolean;
}

/**
 * Yields the body as common serializers would write it, likeliest first, without duplicates and without the body itself; nothing if the body
 * is too long or not JSON. Numbers are tried both as written and as JavaScript formats them.
 */
export function* reserializations(body: Buffer): Generator<Form> {
  if (body.length > MAX_BYTES || !isUtf8(body)) return;
  const sent = body.toString('utf8');
  const values = valuesOf(sent);
  const seen = new Set([sent]);
  const forms: Form[] = [];
  for (const layouts of [ONE_LINE, INDENTED]) {
    for (const form of serialize(values, layouts)) {
      if (seen.has(form.text)) continue;
      seen.add(form.text);
      forms.push(form);
      yield form;
    }
  }
  // The body itself with a line break is `trailing_newline`.
  for (const { text, isSorted } of forms) {
    const line = `${text}\n`;
    if (!seen.has(line)) yield { text: line, isSorted };
  }
}

function* serialize(values: unknown[], layouts: readonly Layout[]): Generator<Form> {
  const plain: Form[] = [];
  for (const sorted of SORTED) {
    for (const layout of layouts) {
      for (const value of values) {
        const form = { text: write(value, layout, sorted), isSorted: sorted !== 'none' };
        plain.push(form);
        yield form;
      }
    }
  }
  for (const change of ESCAPES) {
    for (const form of plain) yield { ...form, text: change(form.text) };
  }
}

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

function write(value: unknown, layout: Layout, sorted: Sorted, depth = 1): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (NUMBER in value) return String(value[NUMBER]);
  if (depth > MAX_DEPTH) return '';
  const inner = (element: unknown) => write(element, layout, sorted, depth + 1);
  if (Array.isArray(value)) return enclose('[', value.map(inner), ']', layout, depth);
  const names = Object.keys(value);
  if (sorted === 'all' || (sorted === 'outermost' && depth === 1)) names.sort((a, b) => (a < b ? -1 : 1));
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
