import { Failure } from '../errors.ts';

const UTF8_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const UTF16_MARKS = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])];

/**
 * Removes a UTF-8 byte order mark, even if it is split between chunks.
 *
 * @throws {Failure} if the mark is that of UTF-16; no UTF-8 starts with these bytes.
 */
export async function* stripByteOrderMark(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head: Buffer | null = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (!head) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (head.length < UTF8_MARK.length) continue;
    yield withoutMark(head);
    head = null;
  }
  if (head) yield withoutMark(head);
}

function withoutMark(head: Buffer): Buffer {
  if (UTF16_MARKS.some((mark) => head.subarray(0, mark.length).equals(mark)))
    throw new Failure("it is UTF-16, as PowerShell's > writes it: save it as UTF-8.");
  return head.subarray(0, UTF8_MARK.length).equals(UTF8_MARK) ? head.subarray(UTF8_MARK.length) : head;
}
