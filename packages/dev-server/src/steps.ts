/** Runs a step of the start, and prints a line when it begins. */
export type RunStep = <T>(what: string, work: () => Promise<T>) => Promise<T>;

/** @param verbose prints how long each step took, too. */
export function createSteps(print: (text: string) => void, verbose: boolean): RunStep {
  return async (what, work) => {
    print(`${what} …`);
    const startedAt = performance.now();
    const result = await work();
    if (verbose) print(`${what}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    return result;
  };
}
