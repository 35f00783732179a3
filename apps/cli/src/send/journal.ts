import { appendFileSync, closeSync, createReadStream, ftruncateSync, openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Failure } from '../errors.ts';
import type { Batch } from './cut-batches.ts';
import { type JournalHead, type Result, readEntry, readHead, type StartedBatch, writeHead } from './journal-entries.ts';
import { lock } from './lock.ts';
import { requireOwnFile } from './own-files.ts';
import { linesOf } from './read-ndjson.ts';

/**
 * The record of a run, with which the next run resumes: the started batches with their keys, and their results. It contains only ids and
 * codes of orders.
 *
 * Writes are not synced: if the last lines are lost in a crash, their batches are cut and sent again under the same keys.
 */
export interface Journal {
  path: string;
  /** The batches that earlier runs started. */
  previousBatches(): readonly StartedBatch[];
  hasResults(number: number): boolean;
  /** Whether no batch was started, including by this run. */
  isEmpty(): boolean;
  /** Whether each batch of earlier runs has results, so that the journal may be reset for another input. */
  isSettled(): boolean;
  /** Deletes everything, for another input. */
  reset(): void;
  /** Records a batch; must be called before it is sent. */
  begin(batch: Batch): void;
  recordResults(number: number, results: readonly Result[]): void;
  /** The results of all runs. */
  results(): AsyncGenerator<readonly Result[]>;
  close(): Promise<void>;
  /** Closes and deletes the file. */
  remove(): Promise<void>;
}

/** The input differs from the one that the journal was created for. */
export class InputChangedError extends Failure {
  constructor(path: string) {
    super(
      `The input has changed since ${path} was created, and some batches have no reply yet: give --restart to send all orders (those that were accepted then end as duplicate), or the original input.`,
      { includesNextStep: true },
    );
  }
}

/**
 * Opens or creates the journal of a run. Replaces a journal of another input if all its batches have results, and one of another service
 * if it accepted nothing.
 *
 * @throws {Failure} if the file is in use, damaged, not a journal, or of another input, service or way of sending.
 */
export async function openJournal(path: string, head: JournalHead, restart: boolean): Promise<Journal> {
  const release = await lock(path).catch((error) => Promise.reject(unusable(path, error)));
  if (!release) throw new Failure(`Another orders send is using ${path}: wait until it ends.`);
  let file = -1;
  let before: readonly StartedBatch[] = [];
  let answered: ReadonlySet<number> = new Set();
  // A journal without a batch is useless for the next run, so it is deleted.
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
      // Removes a torn last line.
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
    recordResults: (number, results) => append({ batch: number, results }),
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
  /** Total bytes of complete lines. */
  kept: number;
}

/** Reads complete lines up to a torn one. */
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

/** Whether a run resumes from this journal; false if the journal is no longer useful. */
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
    `The journal ${path} is damaged after batch ${batches}: give --restart to send all orders again (those that were accepted then end as duplicate).`,
  );
}

function unusable(path: string, error: unknown): Failure {
  const { code, name } = error as NodeJS.ErrnoException;
  return new Failure(`The journal ${path} cannot be written (${code ?? name}).`);
}
