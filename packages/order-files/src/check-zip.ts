import { FileError } from './errors.ts';

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
export function requireSmallArchive(bytes: Uint8Array): void {
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
