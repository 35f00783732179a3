import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import { type CsvFormat, readCsv } from '@orders/order-files/csv.ts';
import { FileError, OptionsError } from '@orders/order-files/errors.ts';
import { type ReadOrder, type SourceOrder, withPositions } from '@orders/order-files/read-order.ts';
import { readTable, type TableFacts, type TableOptions, unreadFacts } from '@orders/order-files/read-table.ts';
import { isSpreadsheet, readXlsx, type XlsxFormat } from '@orders/order-files/read-xlsx.ts';
import { Failure, UsageError } from '../errors.ts';
import { mapDocument, readJson, readNdjson } from './read-json.ts';

export const FORMATS = ['ndjson', 'json', 'csv', 'xlsx'] as const;
export type Format = (typeof FORMATS)[number];

const EXTENSIONS: Record<string, Format> = {
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  json: 'json',
  csv: 'csv',
  tsv: 'csv',
  xlsx: 'xlsx',
  xlsm: 'xlsx',
};
const SPREADSHEETS: ReadonlySet<string> = new Set(['xls', 'xlsb', 'ods', 'numbers']);
const SAVE_AS = 'save the table as .xlsx or "CSV UTF-8", and send that file.';
/** Enough to tell the kind of a file. */
const HEAD_BYTES = 4;
const CHUNK_BYTES = 2 ** 18;

/** The input: a file or standard input. */
export interface Input {
  /** Size in bytes; null for standard input. */
  size: number | null;
  /** Complete once it was read. */
  facts: TableFacts;
  /** Can be read once. */
  orders(): AsyncGenerator<SourceOrder>;
}

/** The given format, else that of the file's extension. */
export function formatOf(name: string, given: Format | undefined): Format {
  const extension = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  const format = given ?? EXTENSIONS[extension];
  if (!format && SPREADSHEETS.has(extension))
    throw new UsageError(`The file is a spreadsheet of another kind: ${SAVE_AS}`);
  if (!format) throw new UsageError('The file has no known extension: give --format ndjson, json, csv or xlsx.');
  return format;
}

/** @throws {Failure} if there is no such file. */
export async function openInput(
  name: string,
  format: Format,
  table: CsvFormat & XlsxFormat & TableOptions,
  stdin: AsyncIterable<Buffer>,
): Promise<Input> {
  const isStdin = name === '-';
  const size = isStdin ? null : await sizeOf(name);
  const facts = unreadFacts();
  function read(): AsyncGenerator<ReadOrder> {
    const bytes = isStdin ? stdin : createReadStream(name, { highWaterMark: CHUNK_BYTES });
    if (format === 'xlsx') return readTable(readXlsx(withFailures(bytes), table), table, facts);
    const chunks = withoutByteOrderMark(withFailures(bytes));
    if (format === 'csv') return readTable(readCsv(chunks, table), table, facts);
    const orders = format === 'json' ? readJson(chunks) : readNdjson(chunks);
    return table.mapping ? mapped(orders, table.mapping) : orders;
  }
  return { size, facts, orders: () => naming(isStdin ? 'standard input' : name, withPositions(read())) };
}

async function* mapped(orders: AsyncIterable<ReadOrder>, mapping: OrderMapping): AsyncGenerator<ReadOrder> {
  for await (const order of orders) yield mapDocument(order, mapping);
}

async function sizeOf(name: string): Promise<number> {
  const found = await stat(name).catch((error: NodeJS.ErrnoException) => {
    throw new Failure(`${name} cannot be read (${error.code ?? error.name}).`);
  });
  if (!found.isFile()) throw new Failure(`${name} is not a regular file; give - to read from standard input.`);
  return found.size;
}

/** Adds the input's name to errors. */
async function* naming(name: string, orders: AsyncIterable<SourceOrder>): AsyncGenerator<SourceOrder> {
  try {
    yield* orders;
  } catch (error) {
    if (error instanceof OptionsError) throw new UsageError(error.message);
    throw error instanceof FileError || error instanceof Failure ? new Failure(`${name}: ${error.message}`) : error;
  }
}

/** Maps errors of the file system. */
async function* withFailures(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* chunks;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code ? new Failure(`it cannot be read (${code}).`) : error;
  }
}

/**
 * Removes a UTF-8 byte order mark, even if it is split between chunks.
 *
 * @throws {Failure} if the first bytes are those of UTF-16, a spreadsheet or an archive; no orders start with these bytes.
 */
async function* withoutByteOrderMark(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head = Buffer.alloc(0);
  let isPast = false;
  for await (const chunk of chunks) {
    if (!isPast) head = Buffer.concat([head, chunk]);
    if (isPast) yield chunk;
    else if (head.length >= HEAD_BYTES) {
      yield withoutMark(head);
      isPast = true;
    }
  }
  if (!isPast) yield withoutMark(head);
}

function withoutMark(head: Buffer): Buffer {
  const [first, second, third] = head;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    throw new Failure("it is UTF-16, as PowerShell's > writes it: save it as UTF-8.");
  if (isSpreadsheet(head))
    throw new Failure(`it is a spreadsheet or an archive, not text: give --format xlsx, or ${SAVE_AS}`);
  return first === 0xef && second === 0xbb && third === 0xbf ? head.subarray(3) : head;
}
