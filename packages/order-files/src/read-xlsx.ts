import { type Cell, type CellValue, formatValue, HucreError, type Sheet } from 'hucre';
import { readXlsx as readWorkbook } from 'hucre/xlsx';
import { FileError, OptionsError } from './errors.ts';
import { quoted } from './headings.ts';
import type { Row } from './order-rows.ts';

/** Which sheet of a workbook has the table. */
export interface XlsxFormat {
  /** Undefined for the first one that is not hidden. */
  sheet: string | undefined;
}

/** The first bytes of a ZIP file, as .xlsx is one. */
const ZIP = [0x50, 0x4b, 0x03, 0x04];
/** Excel before 2007, and the container of an encrypted workbook. */
const EXCEL_97 = [0xd0, 0xcf, 0x11, 0xe0];
/** Max size of a workbook. */
export const MAX_XLSX_BYTES = 20 * 2 ** 20;
const [MAX_ROWS, MAX_ROW_CHARACTERS] = [200_000, 2 ** 20];
const MAX_MERGED = 5_000_000;

const startsWith = (bytes: Uint8Array, start: readonly number[]) => start.every((byte, at) => bytes[at] === byte);

/** Whether a file that starts with these bytes, at least four, is a spreadsheet of Excel or another archive. */
export function isSpreadsheet(bytes: Uint8Array): boolean {
  return startsWith(bytes, ZIP) || startsWith(bytes, EXCEL_97);
}

/** Reads the rows of a sheet that are not empty; a row's line is its number there. The whole sheet is in memory. */
export async function* readXlsx(chunks: AsyncIterable<Uint8Array>, { sheet: name }: XlsxFormat): AsyncGenerator<Row> {
  const bytes = await collect(chunks);
  if (startsWith(bytes, EXCEL_97))
    throw new FileError('old_excel', 'it is an older Excel file, or has a password: save it as .xlsx without one.');
  requireSmallArchive(bytes);
  const { rows, cells, merges = [] } = await openSheet(bytes, name);
  if (rows.length > MAX_ROWS)
    throw new FileError('too_many_rows', 'the sheet has more than 200,000 rows: split it, or save it as "CSV UTF-8".');
  repeatMergedCells(rows, merges);
  for (const [at, values] of rows.entries()) {
    const texts = values.map((value, column) => textOf(value, cells?.get(`${at},${column}`)));
    if (texts.every((text) => text.trim() === '')) continue;
    if (texts.reduce((sum, text) => sum + text.length, 0) > MAX_ROW_CHARACTERS)
      throw new FileError('long_row', 'the row is longer than 1 MiB.', at + 1);
    yield { cells: texts, line: at + 1, end: Math.round((bytes.length * (at + 1)) / rows.length) };
  }
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    pieces.push(chunk);
    length += chunk.length;
    if (length > MAX_XLSX_BYTES)
      throw new FileError('too_large', 'it is larger than 20 MiB: split it, or save it as "CSV UTF-8".');
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

async function openSheet(bytes: Uint8Array, name: string | undefined): Promise<Sheet> {
  const names: string[] = [];
  let isFound = false;
  try {
    const { sheets } = await readWorkbook(bytes, {
      readStyles: true,
      sheets: (sheet) => {
        names.push(sheet.name);
        const isWanted = name === undefined ? !sheet.hidden && !sheet.veryHidden : sheet.name === name;
        if (isFound || !isWanted) return false;
        isFound = true;
        return true;
      },
    });
    const [sheet] = sheets;
    if (sheet) return sheet;
  } catch (error) {
    if (!(error instanceof HucreError)) throw error;
    throw new FileError('not_xlsx', `it cannot be read as .xlsx: ${error.message}.`);
  }
  throw new OptionsError(
    'no_sheet',
    name === undefined
      ? 'All sheets are hidden: name one with --sheet.'
      : `There is no sheet ${quoted([name])}; the file has ${quoted(names)}.`,
  );
}

/** A cell that spans several rows belongs to each of them, such as the id of an order beside its items. */
function repeatMergedCells(rows: readonly CellValue[][], merges: NonNullable<Sheet['merges']>): void {
  let repeated = 0;
  for (const { startRow, startCol, endRow } of merges) {
    repeated += endRow - startRow;
    if (repeated > MAX_MERGED)
      throw new FileError('too_large', 'it has too many merged cells: save it as "CSV UTF-8".');
    const value = rows[startRow]?.[startCol] ?? null;
    for (let at = startRow + 1; value !== null && at <= Math.min(endRow, rows.length - 1); at += 1) {
      const row = rows[at];
      if (row) row[startCol] ??= value;
    }
  }
}

function textOf(value: CellValue, cell: Cell | undefined): string {
  if (value === null) return '';
  if (value instanceof Date) return dateText(value);
  if (typeof value === 'number') return numberText(value, cell?.style?.numFmt);
  return typeof value === 'boolean' ? String(value).toUpperCase() : String(value);
}

/** Excel shows a date by the region of the computer, so it has no other form that everybody reads alike. */
function dateText(date: Date): string {
  const [day = '', time = ''] = date.toISOString().slice(0, 16).split('T');
  // A time alone is a part of the day 0.
  if (date.getUTCFullYear() < 1900) return time;
  return time === '00:00' ? day : `${day} ${time}`;
}

/** As it is shown, such as 00042 and 49.50, unless that hides some of its digits. */
function numberText(value: number, format: string | undefined): string {
  // Excel has 15 digits; the others come from sums such as 0.1 + 0.2.
  const exact = Number(value.toPrecision(15));
  const plain = Number.isInteger(exact) ? BigInt(exact).toString() : String(exact);
  if (format === undefined || format === 'General' || !Number.isFinite(value)) return plain;
  const shown = formatValue(value, format);
  const digits = Number(shown.replace(/[^\d.]/g, ''));
  return digits === Math.abs(exact) && shown.includes('-') === exact < 0 && !/e[+-]/i.test(shown) ? shown : plain;
}

/** An archive of a spreadsheet holds a few parts; more bytes would not fit into memory once they are read. */
const [MAX_ENTRIES, MAX_UNPACKED_BYTES] = [2_000, 100 * 2 ** 20];
const [END, ENTRY] = [0x06054b50, 0x02014b50];
const [END_BYTES, ENTRY_BYTES, MAX_COMMENT] = [22, 46, 0xffff];
/** The bit of an entry whose size may stand after its content. */
const SIZE_FOLLOWS = 8;

/**
 * Ensures that an archive is small once it is unpacked, by the sizes that it states: the library that reads it stops at the stated size of an
 * entry, except for 0, which it takes for unknown.
 *
 * @throws {FileError}
 */
function requireSmallArchive(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [short, long] = [(at: number) => view.getUint16(at, true), (at: number) => view.getUint32(at, true)];
  const first = Math.max(0, bytes.length - END_BYTES - MAX_COMMENT);
  let start = bytes.length - END_BYTES;
  while (start >= first && long(start) !== END) start -= 1;
  if (start < first) throw new FileError('not_xlsx', 'it is no .xlsx file, or it is cut off.');
  const entries = short(start + 10);
  let at = long(start + 16);
  let unpacked = 0;
  for (let entry = 0; entry < entries; entry += 1) {
    if (at + ENTRY_BYTES > bytes.length || long(at) !== ENTRY)
      throw new FileError('not_xlsx', 'it is no .xlsx file, or it is damaged.');
    const [packed, size] = [long(at + 20), long(at + 24)];
    const statesSizeLater = (short(at + 8) & SIZE_FOLLOWS) !== 0;
    // An empty entry takes two bytes.
    const isUnknown = packed === 0 ? statesSizeLater : packed > 2 && size === 0;
    unpacked += isUnknown ? Number.POSITIVE_INFINITY : size;
    at += ENTRY_BYTES + short(at + 28) + short(at + 30) + short(at + 32);
  }
  if (entries > MAX_ENTRIES || unpacked > MAX_UNPACKED_BYTES)
    throw new FileError(
      'too_large',
      'it would take more than 100 MiB once unpacked: split it, or save the table as "CSV UTF-8".',
    );
}
