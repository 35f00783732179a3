import { Failure } from '../errors.ts';

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
 * @throws {Failure}
 */
export function requireSmallArchive(bytes: Buffer): void {
  const end = bytes.subarray(Math.max(0, bytes.length - END_BYTES - MAX_COMMENT)).lastIndexOf(signature(END));
  const start = end + Math.max(0, bytes.length - END_BYTES - MAX_COMMENT);
  if (end < 0 || start + END_BYTES > bytes.length) throw new Failure('it is no .xlsx file, or it is cut off.');
  const entries = bytes.readUInt16LE(start + 10);
  let at = bytes.readUInt32LE(start + 16);
  let unpacked = 0;
  for (let entry = 0; entry < entries; entry += 1) {
    if (at + ENTRY_BYTES > bytes.length || bytes.readUInt32LE(at) !== ENTRY)
      throw new Failure('it is no .xlsx file, or it is damaged.');
    const [packed, size] = [bytes.readUInt32LE(at + 20), bytes.readUInt32LE(at + 24)];
    const statesSizeLater = (bytes.readUInt16LE(at + 8) & SIZE_FOLLOWS) !== 0;
    // An empty entry takes two bytes.
    const isUnknown = packed === 0 ? statesSizeLater : packed > 2 && size === 0;
    unpacked += isUnknown ? Number.POSITIVE_INFINITY : size;
    at += ENTRY_BYTES + bytes.readUInt16LE(at + 28) + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  if (entries > MAX_ENTRIES || unpacked > MAX_UNPACKED_BYTES)
    throw new Failure('it would take more than 100 MiB once unpacked: split it, or save the table as "CSV UTF-8".');
}

function signature(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number);
  return bytes;
}
