import { Failure } from '../errors.ts';
import { MAX_ORDER_BYTES, type ReadOrder, sourceOrder } from './source-order.ts';

const NEWLINE = 0x0a;
const BLANK = /^[ \t\r]*$/;

/** Reads one order per line; skips empty lines. */
export async function* readNdjson(chunks: AsyncIterable<Buffer>): AsyncGenerator<ReadOrder> {
  let [line, end] = [0, 0];
  for await (const bytes of linesOf(chunks)) {
    line += 1;
    end += bytes.length + 1;
    if (!isBlank(bytes)) yield sourceOrder(bytes, { line, end });
  }
}

/** Lines without their line breaks; the last one may have none. */
export async function* linesOf(chunks: AsyncIterable<Buffer>, maxBytes = MAX_ORDER_BYTES): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let held = 0;
  let line = 1;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const piece = chunk.subarray(start, end);
      yield pieces.length === 0 ? piece : Buffer.concat([...pieces, piece]);
      pieces = [];
      held = 0;
      line += 1;
      start = end + 1;
    }
    if (start === chunk.length) continue;
    pieces.push(chunk.subarray(start));
    held += chunk.length - start;
    if (held > maxBytes) throw new Failure(`line ${line} is longer than 16 MiB: is this NDJSON, one order a line?`);
  }
  if (held > 0) yield Buffer.concat(pieces);
}

function isBlank(bytes: Buffer): boolean {
  return bytes[0] !== 0x7b && bytes.length < 1000 && BLANK.test(bytes.toString('latin1'));
}
