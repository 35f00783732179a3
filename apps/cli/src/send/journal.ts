import { appendFileSync, closeSync, createReadStream, ftruncateSync, openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Failure } from '../errors.ts';
import type { Batch } from './cut-batches.ts';
import { type JournalHead, type Result, readEntry, readHead, type StartedBatch, writeHead } from './journal-entries.ts';
import { lock } from './lock.ts';
import { requireOwnFile } from './own-files.ts';
import { linesOf } from './read-ndjson.ts';

/**
 * The record of a run, so that the next one goes on where it stopped: which batches were begun, under which keys, and the answers. It holds
 * ids and codes, nothing else of an order.
 *
 * Nothing waits for the disk: if the last lines are lost with the machine, their batches are cut and sent again under the same keys.
 */
export interface Journal {
  path: string;
  /** The batches that were begun before this run. */
  previousBatches(): readonly StartedBatch[];
  hasResults(number: number): boolean;
  /** Whether no batch was begun, by this run neither. */
  isEmpty(): boolean;
  /** Whether each batch that was begun before this run has its answers, so that it can give way to another input. */
  isSettled(): boolean;
  /** Forgets all, for another input. */
  reset(): void;
  /** To be called before a batch is sent. */
  begin(batch: Batch): void;
  answer(number: number, results: readonly Result[]): void;
  /** What all runs were answered. */
  results(): AsyncGenerator<readonly Result[]>;
  close(): Promise<void>;
  /** Closes and removes it. */
  remove(): Promise<void>;
}

/** The input is not what it was when the journal was begun. */
export class InputChangedError extends Failure {
  constructor(path: string) {
    super(
      `The input has changed since ${path} was begun, and not all that was sent of it was answered: give --restart to send all of it (what is there already then ends as duplicate), or the input as it was.`,
      { includesNextStep: true },
    );
  }
}

/**
 * Opens the journal of a run, or begins it: also in place of one of another input whose every batch was answered, and of one to another
 * address that accepted nothing.
 *
 * @throws {Failure} when it is in use, damaged, none at all, or of another input, service or way.
 */
export async function openJournal(path: string, head: JournalHead, restart: boolean): Promise<Journal> {
  const release = await lock(path).catch((error) => Promise.reject(unusable(path, error)));
  if (!release) throw new Failure(`Another orders send works with ${path}: wait for its end.`);
  let file = -1;
  let before: readonly StartedBatch[] = [];
  let answered: ReadonlySet<number> = new Set();
  // One without a batch says nothing to the next run.
  let isEmpty = true;

  const append = (entry: object) => {
    try {
      appendFileSync(file, `${JSON.stringify(entry)}\n`);
    } catch (error) {
      throw unusable(path, error);
    }
  };
  const reset = () => {
    before = [];
    answered = new Set();
    isEmpty = true;
    ftruncateSync(file, 0);
    append(writeHead(head));
  };
  const close = async () => {
    if (file >= 0) {
      closeSync(file);
      if (isEmpty) await rm(path, { force: true });
    }
    file = -1;
    await release();
  };

  try {
    const exists = await requireOwnFile(path, 'journal', (line) => readHead(line) !== null);
    const found = exists && !restart ? await readJournal(path) : null;
    const canResume = found !== null && isResumable(path, found, head);
    file = open(path);
    if (canResume) {
      ({ begun: before, answered } = found);
      isEmpty = before.length === 0;
      // What was torn off in the middle of a line is cut away.
      ftruncateSync(file, found.kept);
    } else reset();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    path,
    previousBatches: () => before,
    hasResults: (number) => answered.has(number),
    isEmpty: () => isEmpty,
    isSettled: () => answered.size === before.length,
    reset,
    begin({ number, orders, key, replaces }) {
      append({ batch: number, orders: orders.length, key, replaces });
      isEmpty = false;
    },
    answer: (number, results) => append({ batch: number, results }),
    async *results() {
      for await (const line of linesOf(createReadStream(path))) {
        const entry = readEntry(line.toString());
        if (entry && entry !== 'torn' && 'results' in entry) yield entry.results;
      }
    },
    close,
    async remove() {
      await close();
      await rm(path, { force: true });
    },
  };
}

interface JournalState {
  head: JournalHead;
  begun: StartedBatch[];
  answered: Set<number>;
  /** Whether any order was accepted. */
  hasReceipt: boolean;
  /** Bytes of the lines that are whole. */
  kept: number;
}

/** Reads whole lines until one that is torn. */
async function readJournal(path: string): Promise<JournalState> {
  const input = { read: 0 };
  let head: JournalHead | null = null;
  const [begun, answered]: [StartedBatch[], Set<number>] = [[], new Set()];
  let [kept, hasReceipt] = [0, false];
  for await (const line of linesOf(counting(createReadStream(path), input))) {
    if (kept + line.length + 1 > input.read) break;
    const text = line.toString();
    if (!head) head = readHead(text);
    else {
      const entry = readEntry(text);
      if (entry === 'torn') break;
      if (!entry) throw damaged(path, begun.length);
      const { batch } = entry;
      if ('key' in entry) {
        if (batch !== begun.length) throw damaged(path, begun.length);
        begun.push({ orders: entry.orders, key: entry.key, replaces: entry.replaces });
      } else {
        if (begun[batch]?.orders !== entry.results.length || answered.has(batch)) throw damaged(path, begun.length);
        answered.add(batch);
        hasReceipt ||= entry.results.some(([, , , outcome]) => typeof outcome === 'string');
      }
    }
    kept += line.length + 1;
  }
  return { head: head as JournalHead, begun, answered, hasReceipt, kept };
}

async function* counting(chunks: AsyncIterable<Buffer>, input: { read: number }): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    input.read += chunk.length;
    yield chunk;
  }
}

/** Whether a run goes on with what it found; false for what is of no use to anybody any more. */
function isResumable(
  path: string,
  { head, begun, answered, hasReceipt }: JournalState,
  { size, url, way, strict }: JournalHead,
) {
  const isSettled = answered.size === begun.length;
  if (head.size !== size && isSettled) return false;
  const change =
    (head.url !== url && 'to another service: give that address') ||
    (head.way !== way && (way === 'webhook' ? 'without --webhook: leave it out' : 'with --webhook: give it')) ||
    (head.strict !== strict && (strict ? 'without --strict: leave it out' : 'with --strict: give it'));
  if (change && !hasReceipt) return false;
  if (change) throw new Failure(`${path} is of orders that were sent ${change}, another --journal, or --restart.`);
  if (head.size !== size) throw new InputChangedError(path);
  return true;
}

function open(path: string): number {
  try {
    return openSync(path, 'a', 0o600);
  } catch (error) {
    throw unusable(path, error);
  }
}

function damaged(path: string, batches: number): Failure {
  return new Failure(
    `The journal ${path} is damaged after batch ${batches}: give --restart to send all again (what is there already then ends as duplicate).`,
  );
}

function unusable(path: string, error: unknown): Failure {
  const { code, name } = error as NodeJS.ErrnoException;
  return new Failure(`The journal ${path} cannot be written (${code ?? name}).`);
}
