/**
 * Lets so many pieces of work be under way at once; others wait for one to end, in the order in which they came.
 *
 * @returns does a piece of work, as soon as there is room, and has its outcome.
 */
export function atMost(most: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let underWay = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (underWay < most) underWay += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // Whoever waits takes over this place, so nobody comes in between.
      const next = waiting.shift();
      if (next) next();
      else underWay -= 1;
    }
  };
}
