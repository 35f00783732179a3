interface MicroBatcherOptions<Item> {
  /** Max concurrent batches. A second one starts only when full: one large batch is cheaper than two. */
  maxConcurrent: number;
  /** With it, another batch also starts when the newest one has taken `afterMs` milliseconds, up to `maxConcurrent` of these. */
  whenSlow?: { afterMs: number; maxConcurrent: number };
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
  whenSlow,
  nextBatchSize,
  work,
}: MicroBatcherOptions<Item>): (item: Item) => void {
  let waiting: Item[] = [];
  let busy = 0;
  let scheduled = false;
  let isNewestSlow = false;
  let slowTimer: NodeJS.Timeout | undefined;

  function watchNewest(): void {
    if (!whenSlow) return;
    isNewestSlow = false;
    clearTimeout(slowTimer);
    slowTimer = setTimeout(() => {
      isNewestSlow = true;
      if (waiting.length > 0) schedule();
    }, whenSlow.afterMs);
  }

  function mayStart(isFull: boolean): boolean {
    if (busy === 0 || (isFull && busy < maxConcurrent)) return true;
    return isNewestSlow && whenSlow !== undefined && busy < whenSlow.maxConcurrent;
  }

  /** Runs at the end of this iteration of the event loop, unless something runs already. */
  function atEndOfIteration(run: () => void): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      run();
    });
  }

  // Items of one event loop iteration share a batch. setImmediate adds no timer delay.
  function schedule(): void {
    atEndOfIteration(() => {
      while (waiting.length > 0) {
        const size = nextBatchSize(waiting);
        if (!mayStart(size < waiting.length)) return;
        const batch = waiting.slice(0, size);
        waiting = waiting.slice(size);
        busy += 1;
        watchNewest();
        void work(batch).finally(() => {
          busy -= 1;
          if (busy === 0) clearTimeout(slowTimer);
          // In the next iteration, as results often make callers bring their next items: these share the next batch.
          atEndOfIteration(schedule);
        });
      }
    });
  }

  return (item) => {
    waiting.push(item);
    schedule();
  };
}

/** What a batch of calls is made of. */
interface Call<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Makes one call of the calls that wait at the same time, by `createMicroBatcher`.
 *
 * @param options.work returns a result for each item, in the same order. Its error rejects each call of the batch.
 */
export function batchCalls<Item, Result>(
  options: Omit<MicroBatcherOptions<Item>, 'work'> & { work: (items: Item[]) => Promise<readonly Result[]> },
): (item: Item) => Promise<Result> {
  const itemsOf = (calls: readonly Call<Item, Result>[]) => calls.map(({ item }) => item);
  const add = createMicroBatcher<Call<Item, Result>>({
    ...options,
    nextBatchSize: (waiting) => options.nextBatchSize(itemsOf(waiting)),
    async work(calls) {
      try {
        const results = await options.work(itemsOf(calls));
        for (const [index, { resolve }] of calls.entries()) resolve(results[index] as Result);
      } catch (error) {
        for (const { reject } of calls) reject(error);
      }
    },
  });
  return (item) => new Promise((resolve, reject) => add({ item, resolve, reject }));
}
