/** Histogram of the time from received to written: slot n covers 2^(n/4) to 2^((n+1)/4) milliseconds. */
const SLOTS_PER_DOUBLING = 4;
const LAST_SLOT = 127;

/** SQL: the slot of a duration in milliseconds. */
export function latencySlot(milliseconds: string): string {
  return `least(${LAST_SLOT}, floor(ln(greatest(1, ${milliseconds})) * ${SLOTS_PER_DOUBLING / Math.LN2}))::int`;
}

export interface SlotCount {
  slot: number;
  count: number;
}

/**
 * A quantile of a histogram in milliseconds, with an error of less than 10%; null when it is empty.
 *
 * @param share such as 0.5.
 */
export function quantile(histogram: readonly SlotCount[], share: number): number | null {
  const total = histogram.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return null;
  let rank = Math.max(1, Math.ceil(total * share));
  for (const { slot, count } of histogram.toSorted((a, b) => a.slot - b.slot)) {
    // Interpolates within the slot.
    if (rank <= count) return 2 ** ((slot + rank / count) / SLOTS_PER_DOUBLING);
    rank -= count;
  }
  return null;
}
