/** Counts by name. */
export type Counts = Record<string, number>;

/** Counts since the last call of `take`. */
export function createCounter() {
  let counts: Counts = {};
  return {
    add(name: string | number, count = 1): void {
      if (count > 0) counts[name] = (counts[name] ?? 0) + count;
    },
    take(): Counts {
      const taken = counts;
      counts = {};
      return taken;
    },
  };
}

/** Adds counts of the same name. */
export function sumCounts(all: readonly Counts[]): Counts {
  const sum = createCounter();
  for (const counts of all) for (const [name, count] of Object.entries(counts)) sum.add(name, count);
  return sum.take();
}

/** For example `503 ×12, no reply ×3`. */
export function renderCounts(counts: Counts): string {
  return Object.entries(counts)
    .map(([status, count]) => `${status === '0' ? 'no reply' : status} ×${count.toLocaleString('en')}`)
    .join(', ');
}
