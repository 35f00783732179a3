/** The histogram of the time to written: each slot reaches to the 2^(1/4)-fold of where it begins; the first begins at 1 ms. */
const SLOTS_PER_DOUBLING = 4;
const LAST_SLOT = 127;

/** SQL: the slot of so many milliseconds. */
export function latencySlot(milliseconds: string): string {
  return `least(${LAST_SLOT}, floor(ln(greatest(1, ${milliseconds})) * ${SLOTS_PER_DOUBLING / Math.LN2}))::int`;
}

/** How many of a histogram are in a slot. */
export interface SlotCount {
  slot: number;
  count: number;
}

/**
 * The time that a share of a histogram, such as 0.5, took at most, in milliseconds; off by less than a tenth. Null when it is empty.
 */
export function quantile(histogram: readonly SlotCount[], share: number): number | null {
  const total = histogram.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return null;
  let rank = Math.max(1, Math.ceil(total * share));
  for (const { slot, count } of histogram.toSorted((a, b) => a.slot - b.slot)) {
    // Within a slot they are taken to be spread evenly.
    if (rank <= count) return 2 ** ((slot + rank / count) / SLOTS_PER_DOUBLING);
    rank -= count;
  }
  return null;
}
