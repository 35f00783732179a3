import { type Batch, type BatchLimits, cutBatches } from './cut-batches.ts';
import type { Deliver } from './deliver.ts';
import { InputChangedError, type Journal } from './journal.ts';
import type { Result } from './journal-entries.ts';
import type { SourceOrder } from './source-order.ts';

/** Told what happens on the way. */
export interface SendObserver {
  /** Batch by batch, as it is read; `known` is one that an earlier run had the answers to. */
  read(batch: Batch, known: boolean): void;
  answered(results: readonly Result[]): void;
}

interface Plan {
  orders: AsyncIterable<SourceOrder>;
  /** Receipts that are not to be replayed, by the places of their orders. */
  dead: ReadonlyMap<number, string>;
  limits: BatchLimits;
  journal: Journal;
  deliver: Deliver;
  /** Batches on their way at once. */
  maxConcurrent: number;
  observer: SendObserver;
}

/**
 * Sends what the journal has no answers to: first the batches that an earlier run began, as the same batches, then all others.
 *
 * An error of the input is thrown once all that is on its way has its answers, or failed too.
 *
 * @throws {ChangedInput} before anything is sent, when the input is not the one that the journal is of.
 */
export async function sendBatches({
  orders,
  dead,
  limits,
  journal,
  deliver,
  maxConcurrent,
  observer,
}: Plan): Promise<void> {
  const before = journal.previousBatches();
  const interrupted: Batch[] = [];
  const inFlight = new Set<Promise<unknown>>();

  async function send(batch: Batch): Promise<void> {
    while (inFlight.size >= maxConcurrent) await Promise.race(inFlight);
    if (batch.number >= before.length) journal.begin(batch);
    const delivery: Promise<unknown> = deliver(batch).then((results) => {
      journal.answer(batch.number, results);
      observer.answered(results);
      inFlight.delete(delivery);
    });
    // One that failed stays among them, so that whoever waits next meets its error.
    delivery.catch(() => {});
    inFlight.add(delivery);
  }

  async function* readBatches() {
    try {
      yield* cutBatches(orders, limits, before, dead);
    } catch (error) {
      // The input ends in the middle: the answers to those on their way still belong on record.
      await Promise.allSettled(inFlight);
      throw error;
    }
  }

  let read = 0;
  for await (const batch of readBatches()) {
    read += 1;
    const known = before[batch.number];
    if (known && known.key !== batch.key) throw new InputChangedError(journal.path);
    observer.read(batch, journal.hasResults(batch.number));
    if (known) {
      if (!journal.hasResults(batch.number)) interrupted.push(batch);
      continue;
    }
    for (const earlier of interrupted.splice(0)) await send(earlier);
    await send(batch);
  }
  if (read < before.length) throw new InputChangedError(journal.path);
  for (const batch of interrupted) await send(batch);
  await Promise.all(inFlight);
}
