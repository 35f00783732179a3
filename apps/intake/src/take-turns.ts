const SLICE_MS = 4;

/** Cuts long work into slices, so that what else a process has to do comes in between. */
export interface Turns {
  /** Waits for a turn of the event loop that is nobody else's. @returns says whether the slice that began with it is over. */
  next(): Promise<() => boolean>;
}

/** In each turn of the event loop one slice of all work that shares these turns, in the order in which it was asked for. */
export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return {
    next() {
      const turn = last.then(() => new Promise(setImmediate));
      last = turn;
      return turn.then(() => {
        const endsAt = performance.now() + SLICE_MS;
        return () => performance.now() >= endsAt;
      });
    },
  };
}
