import { CsvError, parse } from 'csv-parse';
import { FileError, OptionsError } from './errors.ts';
import type { Row } from './order-rows.ts';

/** How the cells of a CSV file are separated. */
export interface CsvFormat {
  /** Undefined to take that of a first line such as `sep=;`, else a comma, or a tab for `isTabs`. */
  delimiter: string | undefined;
  isTabs: boolean;
}

/** A longer row is probably an unclosed quote. */
const MAX_ROW_CHARACTERS = 2 ** 20;

interface Parsed {
  record: string[];
  info: { lines: number; bytes: number };
}

/** Reads the rows of a CSV file, the headings included. */
export async function* readCsv(chunks: AsyncIterable<Uint8Array>, format: CsvFormat): AsyncGenerator<Row> {
  const { separator, text } = await readSeparator(decoded(chunks));
  const delimiter = format.delimiter ?? separator ?? (format.isTabs ? '\t' : ',');
  let line = 1;
  let isSeparatorLine = separator !== null;
  let isPastHeadings = false;
  try {
    for await (const { record, info } of parsed(text, delimiter)) {
      if (isSeparatorLine) isSeparatorLine = false;
      else {
        if (!isPastHeadings) requireSeparated(record, delimiter);
        isPastHeadings = true;
        yield { cells: record.map(plainCell), line, end: info.bytes };
      }
      line = info.lines + 1;
    }
  } catch (error) {
    // `line` is the start of the row; the parser reports an unclosed quote only at the end of the file.
    if (error instanceof CsvError) throw csvError(error, line);
    throw error;
  }
}

/** The rows of a text. The parser is a stream of Node; it is written and read by hand, as a browser has no other streams of that kind. */
async function* parsed(text: AsyncIterable<string>, delimiter: string): AsyncGenerator<Parsed> {
  const parser = parse({
    delimiter,
    info: true,
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: MAX_ROW_CHARACTERS,
  });
  let failure: Error | null = null;
  const ended = new Promise<void>((resolve) => {
    parser.once('end', resolve);
    parser.once('error', (error) => {
      failure = error;
      resolve();
    });
  });
  function* rows(): Generator<Parsed> {
    for (let row: Parsed | null = parser.read(); row !== null; row = parser.read()) yield row;
  }
  for await (const piece of text) {
    if (failure) break;
    parser.write(piece);
    yield* rows();
  }
  parser.end();
  yield* rows();
  await ended;
  if (failure) throw failure;
}

/**
 * A cell without what programs write around it so that a spreadsheet keeps it as text: `="0501234567"`, a tab or unit separator before it,
 * or an apostrophe before what would be a formula.
 */
function plainCell(cell: string): string {
  const text = cell.replace(/^\p{Cc}+/u, '');
  const [, quoted] = /^="(.*)"$/s.exec(text) ?? [];
  return quoted === undefined ? text.replace(/^'(?=[=+\-@])/, '') : quoted.replaceAll('""', '"');
}

async function* decoded(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new FileError('not_utf8', 'the table is not UTF-8: save it as "CSV UTF-8", or convert it with iconv.');
  }
}

/** The line that Excel reads, and some programs write, before the headings. */
const SEPARATOR_LINE = /^"?sep=([^"\r\n])"?(?:[\r\n]|$)/i;
const MAX_SEPARATOR_LINE = 10;

/** Reads the separator from the first line; null if the first line is another one. The text still has that line. */
async function readSeparator(chunks: AsyncGenerator<string>) {
  let head = '';
  while (head.length < MAX_SEPARATOR_LINE) {
    const { value, done } = await chunks.next();
    if (done) break;
    head += value;
  }
  async function* text(): AsyncGenerator<string> {
    yield head;
    yield* chunks;
  }
  return { separator: SEPARATOR_LINE.exec(head)?.[1] ?? null, text: text() };
}

/** @throws {OptionsError} if all headings are in one cell. */
function requireSeparated(headings: readonly string[], delimiter: string): void {
  const other = [';', '\t', ','].find((separator) => separator !== delimiter && headings[0]?.includes(separator));
  if (headings.length === 1 && other)
    throw new OptionsError(
      'one_column',
      `All headings are in one column: give --delimiter ${other === '\t' ? 'tab' : `'${other}'`} if that separates them.`,
    );
}

function csvError({ code }: CsvError, line: number): FileError {
  if (code === 'CSV_QUOTE_NOT_CLOSED') return new FileError('open_quote', 'a quote is opened and never closed.', line);
  if (code === 'CSV_MAX_RECORD_SIZE')
    return new FileError('long_row', 'the row is longer than 1 MiB; perhaps a quote in it is never closed.', line);
  return new FileError('not_csv', `this is not CSV (${code}).`, line);
}

/** Spreadsheets run such a cell as a formula, also a part of it if they divide cells at semicolons, tabs or line breaks. */
const FORMULA = /^(?=[=+\-@\t\r])|(?=[=+\-@])(?<=[;\t\r\n] *)/g;
/** Such as a phone number in E.164 form or a negative amount; as a formula, it is itself. */
const PLAIN_NUMBER = /^[+-]?\d+(\.\d+)?$/;

/** A cell of a CSV file (RFC 4180), with formulas disarmed. */
export function csvCell(value: string | number | null): string {
  const text = String(value ?? '');
  const safe = PLAIN_NUMBER.test(text) ? text : text.replaceAll(FORMULA, "'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
