import type { Measurement } from '../measure/measure.ts';
import { median } from '../measure/statistics.ts';

/** The ratio of two contestants, computed per round because the machine's speed varies. */
export interface Ratio {
  median: number;
  min: number;
  max: number;
}

/** Divides a metric of the first contestant by that of the second in the same round. NaN if one of them failed. */
export function ratioByRound(
  measurements: readonly Measurement[],
  [numerator, denominator]: readonly [string, string],
  metric: (measurement: Measurement) => number,
): Ratio {
  const metricsOf = (name: string) =>
    measurements
      .filter(({ contestant }) => contestant === name)
      .map((measurement) => (measurement.faults.length > 0 ? Number.NaN : metric(measurement)));
  const denominators = metricsOf(denominator);
  const ratios = metricsOf(numerator).map((value, round) => value / (denominators[round] ?? Number.NaN));
  return { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios) };
}

/** CPU microseconds per order of all processes except the driver. */
export function serviceCpuMicroseconds({ cpuSecondsPer1000: { driver: _, ...cpu } }: Measurement): number {
  return Object.values(cpu).reduce((sum, seconds) => sum + seconds, 0) * 1000;
}

export function renderRatio({ median: middle, min, max }: Ratio): string {
  return `${middle.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`;
}
