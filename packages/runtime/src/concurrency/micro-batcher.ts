interface MicroBatcherOptions<Item> {
  /** Max concurrent batches. A second one starts only when full: one large batch is cheaper than two. */
  maxConcurrent: number;
  /** How many of the first waiting items form the next batch; at least one. */
  nextBatchSize: (waiting: readonly Item[]) => number;
  /** Must not fail. */
  work: (batch: Item[]) => Promise<void>;
}

/**
 * Processes items in batches without a delay: a batch is what arrived while the batches before were being processed, and a single item is
 * processed immediately.
 *
 * @returns a function that adds an item.
 */
export function createMicroBatcher<Item>({
  maxConcurrent,
  nextBatchSize,
  work,
}: MicroBatcherOptions<Item>): (item: Item) => void {
  let waiting: Item[] = [];
  let busy = 0;
  let scheduled = false;

  // Items of one event loop iteration share a batch. setImmediate adds no timer delay.
  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      while (busy < maxConcurrent && waiting.length > 0) {
        const size = nextBatchSize(waiting);
        const isFull = size < waiting.length;
        if (busy > 0 && !isFull) return;
        const batch = waiting.slice(0, size);
        waiting = waiting.slice(size);
        busy += 1;
        void work(batch).finally(() => {
          busy -= 1;
          schedule();
        });
      }
    });
  }

  return (item) => {
    waiting.push(item);
    schedule();
  };
}
