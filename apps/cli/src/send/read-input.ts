import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Failure, UsageError } from '../errors.ts';
import { type CsvOptions, readCsv } from './read-csv.ts';
import { readJson } from './read-json.ts';
import { readNdjson } from './read-ndjson.ts';
import type { ReadOrder, SourceOrder } from './source-order.ts';

export const FORMATS = ['ndjson', 'json', 'csv'] as const;
export type Format = (typeof FORMATS)[number];

const EXTENSIONS: Record<string, Format> = { ndjson: 'ndjson', jsonl: 'ndjson', json: 'json', csv: 'csv', tsv: 'csv' };
const CHUNK_BYTES = 2 ** 18;

/** The input: a file or standard input. */
export interface Input {
  /** Name for messages. */
  name: string;
  /** Size in bytes; null for standard input. */
  size: number | null;
  bytesRead: number;
  /** Orders read so far. */
  count: number;
  /** Reads from the start; standard input only once. */
  orders(): AsyncGenerator<SourceOrder>;
}

/** The given format, else that of the file's extension. */
export function formatOf(name: string, given: Format | undefined): Format {
  const format = given ?? EXTENSIONS[/\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''];
  if (!format) throw new UsageError('The file has no known extension: give --format ndjson, json or csv.');
  return format;
}

/** @throws {Failure} if there is no such file. */
export async function openInput(
  name: string,
  format: Format,
  csv: CsvOptions,
  stdin: AsyncIterable<Buffer>,
): Promise<Input> {
  const input: Input = {
    name: name === '-' ? 'standard input' : name,
    size: name === '-' ? null : await sizeOf(name),
    bytesRead: 0,
    count: 0,
    orders() {
      input.bytesRead = 0;
      input.count = 0;
      return withPositions(read(), input);
    },
  };
  function read(): AsyncGenerator<ReadOrder> {
    const bytes = name === '-' ? stdin : createReadStream(name, { highWaterMark: CHUNK_BYTES });
    const chunks = withoutByteOrderMark(counted(bytes, input));
    if (format === 'csv') return readCsv(chunks, csv);
    return format === 'json' ? readJson(chunks) : readNdjson(chunks);
  }
  return input;
}

async function sizeOf(name: string): Promise<number> {
  const found = await stat(name).catch((error: NodeJS.ErrnoException) => {
    throw new Failure(`${name} cannot be read (${error.code ?? error.name}).`);
  });
  if (!found.isFile()) throw new Failure(`${name} is not a regular file; give - to read from standard input.`);
  return found.size;
}

/** Adds positions, and those of earlier orders with the same id; adds the input's name to errors. */
async function* withPositions(orders: AsyncIterable<ReadOrder>, input: Input): AsyncGenerator<SourceOrder> {
  const firstPositions = new Map<string, number>();
  try {
    for await (const order of orders) {
      const { sourceOrderId: id } = order;
      const position = ++input.count;
      const firstPosition = id === null ? null : (firstPositions.get(id) ?? null);
      if (id !== null && firstPosition === null) firstPositions.set(id, position);
      yield { ...order, position, firstPosition };
    }
  } catch (error) {
    throw error instanceof Failure ? new Failure(`${input.name}: ${error.message}`, error) : error;
  }
}

/** Counts the bytes. */
async function* counted(chunks: AsyncIterable<Buffer>, input: Input): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of chunks) {
      input.bytesRead += chunk.length;
      yield chunk;
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code ? new Failure(`it cannot be read (${code}).`) : error;
  }
}

/**
 * Removes a UTF-8 byte order mark, even if it is split between chunks.
 *
 * @throws {Failure} if the mark is that of UTF-16; no UTF-8 starts with these bytes.
 */
async function* withoutByteOrderMark(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head = Buffer.alloc(0);
  let isPast = false;
  for await (const chunk of chunks) {
    if (!isPast) head = Buffer.concat([head, chunk]);
    if (isPast) yield chunk;
    else if (head.length >= 3) {
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
  return first === 0xef && second === 0xbb && third === 0xbf ? head.subarray(3) : head;
}
