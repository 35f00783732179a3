import { appendFileSync, closeSync, createReadStream, ftruncateSync, openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Failure } from '../errors.ts';
import type { Batch } from './cut-batches.ts';
import { lock } from './lock.ts';
import { linesOf } from './read-ndjson.ts';
import type { Refusal } from './source-order.ts';

/** What became of one order at the door: its line, its source_order_id, and its receipt id or why it has none. */
export type Result = readonly [line: number, sourceOrderId: string | null, outcome: string | Refusal];

/**
 * The record of a run, so that the next one goes on where it stopped: which batches were begun, under which keys, and the answers. It holds
 * ids and codes, nothing else of an order.
 *
 * Nothing waits for the disk: if the last lines are lost with the machine, their batches are cut and sent again under the same keys.
 */
export interface Journal {
  path: string;
  /** The batches that were begun before this run. */
  before: readonly { orders: number; key: string }[];
  isAnswered(number: number): boolean;
  /** To be called before a batch is sent. */
  begin(batch: Batch): void;
  answer(number: number, results: readonly Result[]): void;
  /** What all runs were answered. */
  results(): AsyncGenerator<readonly Result[]>;
  close(): Promise<void>;
  /** Closes and removes it. */
  remove(): Promise<void>;
}

/** Of what and to where the journal is; another run must say the same. */
export interface JournalHead {
  /** Of the file, in bytes; null for standard input. */
  size: number | null;
  url: string;
}

type Head = { journal: string } & JournalHead;
type Entry = { batch: number; orders: number; key: string } | { batch: number; results: Result[] };

const KIND = 'orders send 1';

/** The input is not what it was when the journal was begun. */
export function changedInput(path: string): Failure {
  return new Failure(
    `The input has changed since ${path} was begun: give --restart to send all of it (what was sent before ends as duplicate), or the input as it was.`,
  );
}

/** @throws {Failure} when it is in use, or is of another file or service. */
export async function openJournal(path: string, head: JournalHead, { restart = false } = {}): Promise<Journal> {
  const release = await lock(path).catch((error) => Promise.reject(unusable(path, error)));
  if (!release) throw new Failure(`Another orders send works with ${path}: wait for its end.`);
  const begun: { orders: number; key: string }[] = [];
  const answered = new Set<number>();
  let file = -1;

  const append = (entry: Head | Entry) => {
    try {
      appendFileSync(file, `${JSON.stringify(entry)}\n`);
    } catch (error) {
      throw unusable(path, error);
    }
  };
  // One without a batch says nothing to the next run.
  let isEmpty = true;
  const close = async () => {
    if (file >= 0) {
      closeSync(file);
      if (isEmpty) await rm(path, { force: true });
    }
    file = -1;
    await release();
  };

  try {
    if (restart) await rm(path, { force: true });
    file = open(path);
    const { kept, found } = await readBack(path, (entry) => {
      if ('results' in entry) answered.add(entry.batch);
      else begun.push({ orders: entry.orders, key: entry.key });
    });
    isEmpty = begun.length === 0;
    if (found && !isEmpty) check(path, found, head);
    // What was torn off in the middle of a line is cut away.
    ftruncateSync(file, isEmpty ? 0 : kept);
    if (isEmpty) append({ journal: KIND, ...head });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    path,
    before: begun,
    isAnswered: (number) => answered.has(number),
    begin({ number, orders, key }) {
      append({ batch: number, orders: orders.length, key });
      isEmpty = false;
    },
    answer: (number, results) => append({ batch: number, results: [...results] }),
    async *results() {
      for await (const line of linesOf(createReadStream(path))) {
        const entry = JSON.parse(line.toString()) as Entry;
        if ('results' in entry) yield entry.results;
      }
    },
    close,
    async remove() {
      await close();
      await rm(path, { force: true });
    },
  };
}

function open(path: string): number {
  try {
    return openSync(path, 'a', 0o600);
  } catch (error) {
    throw unusable(path, error);
  }
}

/** Reads whole lines until one that is none. Returns its head, and how many bytes they take. */
async function readBack(path: string, take: (entry: Entry) => void): Promise<{ kept: number; found: Head | null }> {
  const input = { read: 0 };
  let found: Head | null = null;
  let kept = 0;
  for await (const line of linesOf(counting(createReadStream(path), input))) {
    const entry = entryOf(line);
    const isWhole = kept + line.length + 1 <= input.read;
    if (!found) {
      if (isWhole && !(entry && 'journal' in entry && entry.journal === KIND)) throw foreign(path);
      if (!isWhole) break;
      found = entry as Head;
    } else {
      if (!isWhole || entry === null) break;
      take(entry as Entry);
    }
    kept += line.length + 1;
  }
  return { kept, found };
}

async function* counting(chunks: AsyncIterable<Buffer>, input: { read: number }): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    input.read += chunk.length;
    yield chunk;
  }
}

function entryOf(line: Buffer): Head | Entry | null {
  try {
    const value: unknown = JSON.parse(line.toString());
    return typeof value === 'object' ? (value as Head | Entry | null) : null;
  } catch {
    return null;
  }
}

function check(path: string, found: Head, { size, url }: JournalHead): void {
  if (found.url !== url)
    throw new Failure(
      `${path} is of orders that were sent to another service: give that address, another --journal, or --restart.`,
    );
  if (found.size !== size) throw changedInput(path);
}

function foreign(path: string): Failure {
  return new Failure(`${path} is no journal of orders send: give another file with --journal.`);
}

function unusable(path: string, error: unknown): Failure {
  const { code, name } = error as NodeJS.ErrnoException;
  return new Failure(`The journal ${path} cannot be written (${code ?? name}).`);
}
