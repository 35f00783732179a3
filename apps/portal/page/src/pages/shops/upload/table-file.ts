import { recognizeExport } from '@orders/domain/sources/shop-exports.ts';
import { readCsv } from '@orders/order-files/csv.ts';
import { FileError } from '@orders/order-files/errors.ts';
import type { Row } from '@orders/order-files/order-rows.ts';
import { type SourceOrder, withPositions } from '@orders/order-files/read-order.ts';
import { readTable, type TableFacts, unreadFacts } from '@orders/order-files/read-table.ts';
import { isSpreadsheet, MAX_XLSX_BYTES, readXlsx } from '@orders/order-files/read-xlsx.ts';
import type { OrderMapping } from '../../../api/sources.ts';

/** What a table looks like. */
export interface TableHead {
  headings: string[];
  /** The first values of each column. */
  samples: string[][];
  /** The name of the shop's export, which needs no choice of columns; null if it is none. */
  recognized: string | null;
  /** The same for the same headings, without them; null if the browser computes none, as on a page without HTTPS. */
  key: string | null;
}

/** The orders of a table. */
export interface TableOrders extends TableFacts {
  orders: SourceOrder[];
}

const SAMPLES = 3;
const SAMPLE_ROWS = 50;
/** Enough for the longest first line that is likely. */
const FIRST_BYTES = 2 ** 16;

/** Reads the headings of a table, and a few values of each column. @throws {FileError} */
export async function readHead(file: File): Promise<TableHead> {
  let headings: string[] | null = null;
  let samples: string[][] = [];
  let rows = 0;
  for await (const { cells } of await rowsOf(file)) {
    if (!headings) {
      headings = cells.map((heading) => heading.trim());
      samples = headings.map(() => []);
      continue;
    }
    for (const [at, known] of samples.entries()) {
      const cell = cells[at]?.trim() ?? '';
      if (cell !== '' && known.length < SAMPLES && !known.includes(cell)) known.push(cell);
    }
    rows += 1;
    if (rows === SAMPLE_ROWS) break;
  }
  if (!headings) throw new FileError('no_headings', 'There is no line of headings.');
  return { headings, samples, recognized: recognizeExport(headings)?.name ?? null, key: await keyOf(headings) };
}

/**
 * Reads the orders of a table; columns that the mapping does not read are left out.
 *
 * @param mapping null for the export of a shop.
 * @throws {FileError}
 */
export async function readOrders(file: File, mapping: OrderMapping | null): Promise<TableOrders> {
  const facts = unreadFacts();
  const orders: SourceOrder[] = [];
  const rows = await rowsOf(file);
  for await (const order of withPositions(readTable(rows, { mapping, ignored: [], ignoreUnmapped: true }, facts)))
    orders.push(order);
  return { ...facts, orders };
}

async function keyOf(headings: readonly string[]): Promise<string | null> {
  // Undefined without HTTPS, unlike its type says.
  const subtle = crypto.subtle as SubtleCrypto | undefined;
  const digest = await subtle?.digest('SHA-256', new TextEncoder().encode(JSON.stringify(headings)));
  return digest ? Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('') : null;
}

/** The kind of a file follows from its content: names are often wrong. */
async function rowsOf(file: File): Promise<AsyncGenerator<Row>> {
  if (file.size > MAX_XLSX_BYTES)
    throw new FileError('too_large', 'it is larger than 20 MiB: split it, or use the command orders send.');
  const first = new Uint8Array(await file.slice(0, FIRST_BYTES).arrayBuffer());
  if (isSpreadsheet(first)) return readXlsx(chunksOf(file), { sheet: undefined });
  const text = new TextDecoder().decode(first).trimStart();
  if (/^[[{]/.test(text)) throw new FileError('not_csv', 'it is JSON, not a table: send it with orders send.');
  return readCsv(chunksOf(file), { delimiter: delimiterOf(text), isTabs: false });
}

/** The separator that the first line has most of; undefined if the line says which it is. */
function delimiterOf(text: string): string | undefined {
  const [line = ''] = text.split(/[\r\n]/, 1);
  if (/^"?sep=/i.test(line)) return undefined;
  const outside = line.replaceAll(/"[^"]*"/g, '');
  const counts = [',', ';', '\t'].map((separator) => [separator, outside.split(separator).length] as const);
  return counts.toSorted(([, a], [, b]) => b - a)[0]?.[0];
}

/** Not every browser can iterate over a stream. */
async function* chunksOf(file: File): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
}
