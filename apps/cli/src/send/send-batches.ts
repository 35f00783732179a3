import type { Batch } from './cut-batches.ts';
import type { Deliver } from './deliver.ts';
import { InputChangedError, type Journal } from './journal.ts';
import type { Progress } from './progress.ts';

/**
 * Sends the batches without results in the journal: first those that an earlier run started, unchanged, then all others. An error of the
 * input is thrown once all batches in flight have settled.
 *
 * @param maxConcurrent max batches in flight.
 * @throws {InputChangedError} before anything is sent, if the journal belongs to another input.
 */
export async function sendBatches(
  batches: AsyncIterable<Batch>,
  deliver: Deliver,
  maxConcurrent: number,
  { journal, progress }: { journal: Journal; progress: Progress },
): Promise<void> {
  const before = journal.previousBatches();
  const interrupted: Batch[] = [];
  const inFlight = new Set<Promise<unknown>>();

  async function send(batch: Batch): Promise<void> {
    while (inFlight.size >= maxConcurrent) await Promise.race(inFlight);
    if (batch.number >= before.length) journal.begin(batch);
    const delivery: Promise<unknown> = deliver(batch).then((results) => {
      journal.recordResults(batch.number, results);
      progress.replied(batch, results);
      inFlight.delete(delivery);
    });
    // A failed delivery stays in the set, so that the next wait throws its error.
    delivery.catch(() => {});
    inFlight.add(delivery);
  }

  async function* readBatches() {
    try {
      yield* batches;
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
    const hasResults = journal.hasResults(batch.number);
    progress.read(batch, hasResults);
    if (known && !hasResults) interrupted.push(batch);
    if (known) continue;
    for (const earlier of interrupted.splice(0)) await send(earlier);
    await send(batch);
  }
  if (read < before.length) throw new InputChangedError(journal.path);
  for (const batch of interrupted) await send(batch);
  await Promise.all(inFlight);
}
