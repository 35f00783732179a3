/** Returns a number from 0 to below 1. */
export type Random = () => number;

/** A seeded generator, mulberry32 (Tommy Ettinger): good enough to choose times and targets. */
export function mulberry32(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function between(random: Random, [least, most]: readonly [number, number]): number {
  return least + random() * (most - least);
}

/** @param list not empty. */
export function pick<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T;
}

/** A random permutation (Fisher and Yates). */
export function shuffled<T>(random: Random, list: readonly T[]): T[] {
  const result = [...list];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [result[last], result[other]] = [result[other] as T, result[last] as T];
  }
  return result;
}
