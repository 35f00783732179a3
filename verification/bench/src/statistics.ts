/** The percentile by nearest rank. Ignores NaN, and returns NaN without values. */
export function percentile(values: Iterable<number>, share: number): number {
  const sorted = Float64Array.from([...values].filter((value) => !Number.isNaN(value))).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** The middle value, or the mean of the two middle values. Ignores NaN, and returns NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2;
}

export interface Quantiles {
  p50: number;
  p99: number;
}

export const quantiles = (values: Iterable<number>): Quantiles => {
  const all = [...values];
  return { p50: percentile(all, 0.5), p99: percentile(all, 0.99) };
};

/** The medians of the numbers in values of the same shape; of anything else the first. */
export function medians<Value>(all: readonly Value[]): Value {
  const [first] = all;
  if (typeof first === 'number') return median(all as readonly number[]) as Value;
  if (typeof first !== 'object' || first === null) return first as Value;
  const members = Object.keys(first) as (keyof Value)[];
  return Object.fromEntries(members.map((member) => [member, medians(all.map((one) => one[member]))])) as Value;
}

/** The ratio of two contestants, computed per round because the machine's speed varies. */
export interface Ratio {
  median: number;
  min: number;
  max: number;
}

/** Divides a metric of the first contestant by that of the second in the same round. NaN if one of them failed. */
export function ratioByRound<Measured extends { contestant: string; faults: readonly string[] }>(
  measurements: readonly Measured[],
  [numerator, denominator]: readonly [string, string],
  metric: (measurement: Measured) => number,
): Ratio {
  const metricsOf = (name: string) =>
    measurements
      .filter(({ contestant }) => contestant === name)
      .map((measurement) => (measurement.faults.length > 0 ? Number.NaN : metric(measurement)));
  const denominators = metricsOf(denominator);
  const ratios = metricsOf(numerator).map((value, round) => value / (denominators[round] ?? Number.NaN));
  return { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios) };
}

export function renderRatio({ median: middle, min, max }: Ratio): string {
  return `${middle.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`;
}
