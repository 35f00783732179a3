import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CsvError, parse } from 'csv-parse';
import { Failure, UsageError } from '../errors.ts';
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
export async function* readCsv(chunks: AsyncIterable<Buffer>, format: CsvFormat): AsyncGenerator<Row> {
  const { separator, text } = await readSeparator(decoded(chunks));
  const delimiter = format.delimiter ?? separator ?? (format.isTabs ? '\t' : ',');
  const parser = parse({
    delimiter,
    info: true,
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: MAX_ROW_CHARACTERS,
  });
  const feed = pipeline(Readable.from(text), parser);
  feed.catch(() => {});
  let line = 1;
  let isSeparatorLine = separator !== null;
  let isPastHeadings = false;
  try {
    for await (const { record, info } of parser as AsyncIterable<Parsed>) {
      if (isSeparatorLine) isSeparatorLine = false;
      else {
        if (!isPastHeadings) requireSeparated(record, delimiter);
        isPastHeadings = true;
        yield { cells: record.map(plainCell), line, end: info.bytes };
      }
      line = info.lines + 1;
    }
    await feed;
  } catch (error) {
    // `line` is the start of the row; the parser reports an unclosed quote only at the end of the file.
    if (error instanceof CsvError) throw new Failure(`line ${line}: ${describeCsvError(error)}`);
    throw error;
  }
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

async function* decoded(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Failure('the table is not UTF-8: save it as "CSV UTF-8", or convert it with iconv.');
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

/** @throws {UsageError} if all headings are in one cell. */
function requireSeparated(headings: readonly string[], delimiter: string): void {
  const other = [';', '\t', ','].find((separator) => separator !== delimiter && headings[0]?.includes(separator));
  if (headings.length === 1 && other)
    throw new UsageError(
      `All headings are in one column: give --delimiter ${other === '\t' ? 'tab' : `'${other}'`} if that separates them.`,
    );
}

function describeCsvError({ code }: CsvError): string {
  if (code === 'CSV_QUOTE_NOT_CLOSED') return 'a quote is opened and never closed.';
  if (code === 'CSV_MAX_RECORD_SIZE') return 'the row is longer than 1 MiB; perhaps a quote in it is never closed.';
  return `this is not CSV (${code}).`;
}
