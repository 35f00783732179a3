import type { ReactNode } from 'react';
import type { OverviewPoint } from '../../api/overview.ts';
import { formatDuration } from '../../components/numbers.ts';
import { Plot } from './plot.tsx';
import { LATENCIES } from './series.ts';

/** Time from receipt to order; logarithmic because an outage makes it a thousand times longer. */
export function LatencyChart({ points, stepMs }: { points: OverviewPoint[]; stepMs: number }): ReactNode {
  const ticks = powersAround(points.flatMap(({ p50_ms, p99_ms }) => [p50_ms, p99_ms]));
  const low = Math.log10(ticks[0] as number);
  const high = Math.log10(ticks.at(-1) as number);
  const heightOf = (value: number) => ((Math.log10(Math.max(1, value)) - low) / (high - low)) * 100;
  return (
    <Plot points={points} stepMs={stepMs} series={LATENCIES} ticks={ticks} format={formatDuration} heightOf={heightOf}>
      {LATENCIES.map(({ name, colour, isDashed, of }) => (
        <g key={name} className="plot-series" stroke={colour}>
          <path d={lineOf(points, of, heightOf)} strokeDasharray={isDashed ? '6 3' : undefined} />
          <path className="plot-dots" d={dotsOf(points, of, heightOf)} />
        </g>
      ))}
    </Plot>
  );
}

type ValueOf = (point: OverviewPoint) => number | null;
type HeightOf = (value: number) => number;

/** Lines between neighbours; a step without a value interrupts them. */
function lineOf(points: OverviewPoint[], of: ValueOf, heightOf: HeightOf): string {
  return points
    .map((point, index) => {
      const value = of(point);
      const before = points[index - 1];
      const continues = before !== undefined && of(before) !== null;
      return value === null ? '' : `${continues ? 'L' : 'M'}${index + 0.5} ${100 - heightOf(value)}`;
    })
    .join('');
}

/** A dot for each value, as a line without length and with round ends. Without dots, a step between two empty ones would be invisible. */
function dotsOf(points: OverviewPoint[], of: ValueOf, heightOf: HeightOf): string {
  return points
    .map((point, index) => {
      const value = of(point);
      return value === null ? '' : `M${index + 0.5} ${100 - heightOf(value)}h0`;
    })
    .join('');
}

/** The powers of ten that enclose all values. */
function powersAround(values: readonly (number | null)[]): number[] {
  const present = values.filter((value) => value !== null).map((value) => Math.max(1, value));
  const low = present.length > 0 ? Math.floor(Math.log10(Math.min(...present))) : 0;
  const high = present.length > 0 ? Math.ceil(Math.log10(Math.max(...present))) : 3;
  return Array.from({ length: Math.max(2, high - low + 1) }, (_, index) => 10 ** (low + index));
}
