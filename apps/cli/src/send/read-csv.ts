import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CsvError, parse } from 'csv-parse';
import { Failure, UsageError } from '../errors.ts';
import { type Column, type ColumnMap, mapColumns } from './map-columns.ts';
import { type ReadOrder, unsendable } from './source-order.ts';

export interface CsvOptions {
  delimiter: string;
  map: ColumnMap;
  ignoreUnmapped: boolean;
}

/** A longer row is probably an unclosed quote. */
const MAX_ROW_CHARACTERS = 2 ** 20;

/** Reads one order per row below the headings; skips empty rows. */
export async function* readCsv(chunks: AsyncIterable<Buffer>, options: CsvOptions): AsyncGenerator<ReadOrder> {
  const parser = parse({
    delimiter: options.delimiter,
    info: true,
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: MAX_ROW_CHARACTERS,
  });
  const feed = pipeline(Readable.from(decoded(chunks)), parser);
  feed.catch(() => {});
  let columns: Column[] | null = null;
  let line = 1;
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      if (!columns) columns = columnsOf(record, options);
      else if (record.some((cell) => cell.trim() !== '')) yield orderOf(record, columns, line);
      line = info.lines + 1;
    }
    await feed;
  } catch (error) {
    // `line` is the start of the row; the parser reports an unclosed quote only at the end of the file.
    if (error instanceof CsvError) throw new Failure(`line ${line}: ${describeCsvError(error)}`);
    throw error;
  }
  if (!columns) throw new UsageError('There is no line of headings.');
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

function columnsOf(record: readonly string[], { delimiter, map, ignoreUnmapped }: CsvOptions): Column[] {
  const headings = record.map((heading) => heading.trim());
  const other = [';', '\t', ','].find((separator) => separator !== delimiter && headings[0]?.includes(separator));
  if (headings.length === 1 && other)
    throw new UsageError(
      `All headings are in one column: give --delimiter ${other === '\t' ? 'tab' : `'${other}'`} if that separates them.`,
    );
  return mapColumns(headings, map, ignoreUnmapped);
}

type Parts = { [step: string]: string | number | Parts | unknown[] };

/** An empty cell is absent. All values are strings, so that no id loses digits, except quantities. */
function orderOf(record: readonly string[], columns: readonly Column[], line: number): ReadOrder {
  const order: Parts = Object.create(null);
  for (const [at, column] of columns.entries()) {
    const cell = record[at] ?? '';
    if (column && cell.trim() !== '') put(order, column, cell);
  }
  if (typeof order.items === 'object') order.items = Object.values(order.items);
  const { source_order_id: id } = order;
  const sourceOrderId = typeof id === 'string' ? id : null;
  const stray = record.findIndex((cell, at) => columns[at] === undefined && cell.trim() !== '');
  if (stray >= 0) return unsendable(line, `Cell ${stray + 1} of the row has no heading above it.`, sourceOrderId);
  return { line, text: JSON.stringify(order), sourceOrderId };
}

function put(order: Parts, path: readonly string[], cell: string): void {
  let parts = order;
  for (const step of path.slice(0, -1)) {
    parts[step] ??= Object.create(null);
    parts = parts[step] as Parts;
  }
  const last = path.at(-1) as string;
  parts[last] = path[0] === 'items' && last === 'quantity' && /^\d{1,9}$/.test(cell) ? Number(cell) : cell;
}

function describeCsvError({ code }: CsvError): string {
  if (code === 'CSV_QUOTE_NOT_CLOSED') return 'a quote is opened and never closed.';
  if (code === 'CSV_MAX_RECORD_SIZE') return 'the row is longer than 1 MiB; perhaps a quote in it is never closed.';
  return `this is not CSV (${code}).`;
}
