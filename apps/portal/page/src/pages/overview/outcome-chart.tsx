import type { ReactNode } from 'react';
import type { OverviewPoint } from '../../api/overview.ts';
import { formatCount } from '../../components/numbers.ts';
import { Plot } from './plot.tsx';
import { OUTCOMES } from './series.ts';

/** Orders by outcome, stacked, by time of receipt. */
export function OutcomeChart({ points, stepMs }: { points: OverviewPoint[]; stepMs: number }): ReactNode {
  const ticks = countTicks(Math.max(...points.map(({ accepted }) => accepted)));
  const top = ticks.at(-1) as number;
  const heightOf = (value: number) => (value / top) * 100;
  return (
    <Plot points={points} stepMs={stepMs} series={OUTCOMES} ticks={ticks} format={formatCount} heightOf={heightOf}>
      {points.map((point, index) => (
        <Bar key={point.at} point={point} index={index} heightOf={heightOf} />
      ))}
    </Plot>
  );
}

function Bar(props: { point: OverviewPoint; index: number; heightOf: (value: number) => number }): ReactNode {
  let y = 100;
  return OUTCOMES.map(({ name, colour, of }) => {
    const height = props.heightOf(of(props.point) ?? 0);
    if (height <= 0) return null;
    y -= height;
    return (
      <rect key={name} data-series={name} x={props.index + 0.12} width={0.76} y={y} height={height} fill={colour} />
    );
  });
}

/** At most five round numbers from 0 to at least `max`. */
function countTicks(max: number): number[] {
  const rough = Math.max(1, max / 4);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.ceil(
    [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough) ?? rough,
  );
  const count = Math.max(1, Math.ceil(max / step));
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}
