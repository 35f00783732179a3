import { appendFileSync, closeSync, createReadStream, ftruncateSync, openSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { Failure } from '../errors.ts';
import type { Batch } from './cut-batches.ts';
import {
  ENTRY,
  type Entry,
  HEAD,
  isAccepted,
  type JournalHead,
  KIND,
  type Result,
  type StartedBatch,
} from './journal-entries.ts';
import { lock } from './lock.ts';
import { readLine, requireOwnFile, unwritable, writing } from './own-files.ts';
import { linesOf } from './read-ndjson.ts';

/**
 * The record of a run, with which the next run resumes: the started batches with their keys, and their results. It contains only ids and
 * codes of orders.
 *
 * Writes are not synced: if the last lines are lost in a crash, their batches are cut and sent again under the same keys.
 */
export type Journal = Awaited<ReturnType<typeof openJournal>>;

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
export async function openJournal(path: string, head: JournalHead, restart: boolean) {
  const name = `The journal ${path}`;
  const release = await lock(path).catch((error) => Promise.reject(unwritable(name, error)));
  if (!release) throw new Failure(`Another orders send is using ${path}: wait until it ends.`);
  let file = -1;
  let before: readonly StartedBatch[] = [];
  let answered: ReadonlySet<number> = new Set();
  // A journal without a batch is useless for the next run, so it is deleted.
  let isEmpty = true;

  const append = (entry: object) => writing(name, () => appendFileSync(file, `${JSON.stringify(entry)}\n`));
  const reset = () => {
    before = [];
    answered = new Set();
    isEmpty = true;
    ftruncateSync(file, 0);
    append({ journal: KIND, ...head });
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
    const exists = await requireOwnFile(path, 'journal', HEAD);
    const found = exists && !restart ? await readJournal(path) : null;
    const canResume = found !== null && isResumable(path, found, head);
    file = writing(name, () => openSync(path, 'a', 0o600));
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
    /** The batches that earlier runs started. */
    previousBatches: () => before,
    hasResults: (number: number) => answered.has(number),
    /** Whether no batch was started, including by this run. */
    isEmpty: () => isEmpty,
    /** Whether each batch of earlier runs has results, so that the journal may be reset for another input. */
    isSettled: () => answered.size === before.length,
    /** Deletes everything, for another input. */
    reset,
    /** Records a batch; must be called before it is sent. */
    begin({ number, orders, key, replaces }: Batch) {
      append({ batch: number, orders: orders.length, key, replaces });
      isEmpty = false;
    },
    recordResults: (number: number, results: readonly Result[]) => append({ batch: number, results }),
    /** The results of all runs. */
    async *results(): AsyncGenerator<readonly Result[]> {
      for await (const line of linesOf(createReadStream(path))) {
        const { results } = JSON.parse(line.toString());
        if (results) yield results;
      }
    },
    close,
    /** Closes and deletes the file. */
    async remove() {
      await close();
      await rm(path, { force: true });
    },
  };
}

/** Reads complete lines up to a torn one. */
async function readJournal(path: string) {
  const { size } = await stat(path);
  let head: JournalHead | null = null;
  const [begun, answered]: [StartedBatch[], Set<number>] = [[], new Set()];
  // Total bytes of complete lines, and whether any order was accepted.
  let [kept, hasReceipt] = [0, false];
  for await (const line of linesOf(createReadStream(path))) {
    if (kept + line.length + 1 > size) break;
    const text = line.toString();
    if (!head) head = readLine<JournalHead>(text, HEAD) ?? null;
    else {
      const entry = readLine<Entry>(text, ENTRY);
      // Torn, as after a power cut.
      if (entry === undefined) break;
      if (!entry) throw damaged(path, begun.length);
      const { batch } = entry;
      if ('results' in entry) {
        if (begun[batch]?.orders !== entry.results.length || answered.has(batch)) throw damaged(path, begun.length);
        answered.add(batch);
        hasReceipt ||= entry.results.some(isAccepted);
      } else {
        if (batch !== begun.length) throw damaged(path, begun.length);
        begun.push(entry);
      }
    }
    kept += line.length + 1;
  }
  return { head: head as JournalHead, begun, answered, hasReceipt, kept };
}

/** Whether a run resumes from this journal; false if the journal is no longer useful. */
function isResumable(
  path: string,
  { head, begun, answered, hasReceipt }: Awaited<ReturnType<typeof readJournal>>,
  { size, url, way, strict }: JournalHead,
) {
  if (head.size !== size && answered.size === begun.length) return false;
  const change =
    (head.url !== url && 'to another service: give that address') ||
    (head.way !== way && (way === 'webhook' ? 'without --webhook: leave it out' : 'with --webhook: give it')) ||
    (head.strict !== strict && (strict ? 'without --strict: leave it out' : 'with --strict: give it'));
  if (change && !hasReceipt) return false;
  if (change) throw new Failure(`${path} is of orders that were sent ${change}, another --journal, or --restart.`);
  if (head.size !== size) throw new InputChangedError(path);
  return true;
}

function damaged(path: string, batches: number): Failure {
  return new Failure(
    `The journal ${path} is damaged after batch ${batches}: give --restart to send all orders again (those that were accepted then end as duplicate).`,
  );
}
