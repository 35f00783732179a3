import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { OverviewPoint } from '../../api/overview.ts';
import { DataTable } from '../../components/data-table.tsx';
import { formatCount, formatDuration } from '../../components/numbers.ts';
import { Plot } from './plot.tsx';
import { formatStep, LATENCIES, OUTCOMES, type Series } from './series.ts';

/** A chart with title, legend and data table. */
export function ChartFigure(props: {
  title: string;
  points: OverviewPoint[];
  series: Series[];
  stepMs: number;
  children: ReactNode;
}): ReactNode {
  const { title, points, series, stepMs, children } = props;
  const { t } = useTranslation('overview');
  const id = useId();
  return (
    <figure className="card" aria-labelledby={id}>
      <figcaption className="spread">
        <h3 id={id}>{title}</h3>
        <ul className="plain row legend">
          {series.map(({ name, colour, isDashed }) => (
            <li key={name} className="row">
              <svg width="20" height="10" aria-hidden="true">
                {isDashed ? (
                  <path d="M0 5H20" stroke={colour} strokeWidth="3" strokeDasharray="6 3" />
                ) : (
                  <rect width="20" height="10" rx="2" fill={colour} />
                )}
              </svg>
              {t(`series.${name}`)}
            </li>
          ))}
        </ul>
      </figcaption>
      <div className="chart">{children}</div>
      <details>
        <summary>{t('asTable')}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard. */}
        <section className="table-scroll chart-table" tabIndex={0} aria-labelledby={id}>
          <DataTable
            className="table"
            rows={points.toReversed()}
            keyOf={({ at }) => at}
            columns={[
              { header: t('from'), cell: ({ at }) => formatStep(at, stepMs, points.length) },
              ...series.map(({ name, of, format }) => ({
                header: t(`series.${name}`),
                cell: (point: OverviewPoint) => formatted(of(point), format),
              })),
            ]}
          />
        </section>
      </details>
    </figure>
  );
}

function formatted(value: number | null, format: (value: number) => string): string {
  return value === null ? '–' : format(value);
}

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
