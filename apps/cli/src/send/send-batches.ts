import { type Batch, type BatchLimits, cutBatches } from './cut-batches.ts';
import type { Deliver } from './deliver.ts';
import { InputChangedError, type Journal } from './journal.ts';
import type { Result } from './journal-entries.ts';
import type { SourceOrder } from './source-order.ts';

export interface SendObserver {
  /** Called for each batch that is read; `known` if an earlier run got its results. */
  read(batch: Batch, known: boolean): void;
  answered(results: readonly Result[]): void;
}

interface Plan {
  orders: AsyncIterable<SourceOrder>;
  /** Receipts that must not be replayed, by the position of their order. */
  dead: ReadonlyMap<number, string>;
  limits: BatchLimits;
  journal: Journal;
  deliver: Deliver;
  /** Max batches in flight. */
  maxConcurrent: number;
  observer: SendObserver;
}

/**
 * Sends the batches without results in the journal: first those that an earlier run started, unchanged, then all others. An error of the
 * input is thrown once all batches in flight have settled.
 *
 * @throws {InputChangedError} before anything is sent, if the journal belongs to another input.
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
      journal.recordResults(batch.number, results);
      observer.answered(results);
      inFlight.delete(delivery);
    });
    // A failed delivery stays in the set, so that the next wait throws its error.
    delivery.catch(() => {});
    inFlight.add(delivery);
  }

  async function* readBatches() {
    try {
      yield* cutBatches(orders, limits, before, dead);
    } catch (error) {
      // The results of batches in flight must still be recorded.
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
