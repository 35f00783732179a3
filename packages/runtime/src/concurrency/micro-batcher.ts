/** How `createMicroBatcher` works. */
interface MicroBatcherOptions<Item> {
  /** Groups worked on at once. All but the first are for full ones: one larger group costs less than two. */
  maxConcurrent: number;
  /** How many of those that wait, in their order, go into the next group; at least one. */
  take: (waiting: readonly Item[]) => number;
  /** Must not fail. */
  work: (group: Item[]) => Promise<void>;
}

/**
 * Works on items in groups without ever waiting for a group to fill: one is what came while those before it were being worked on, and an
 * item that comes alone goes at once.
 *
 * @returns hands in an item.
 */
export function createMicroBatcher<Item>({
  maxConcurrent,
  take,
  work,
}: MicroBatcherOptions<Item>): (item: Item) => void {
  let waiting: Item[] = [];
  let busy = 0;
  let scheduled = false;

  // Items of one turn of the event loop share a group; setImmediate ends the turn, it is no timer.
  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      while (busy < maxConcurrent && waiting.length > 0) {
        const count = take(waiting);
        const isFull = count < waiting.length;
        if (busy > 0 && !isFull) return;
        const group = waiting.slice(0, count);
        waiting = waiting.slice(count);
        busy += 1;
        void work(group).finally(() => {
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
