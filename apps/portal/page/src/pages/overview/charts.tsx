import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import {
  Bar,
  BarChart,
  CartesianGrid,
  Line,
  LineChart,
  ResponsiveContainer,
  Tooltip,
  type TooltipContentProps,
  XAxis,
  YAxis,
} from 'recharts';
import type { OverviewPoint } from '../../api/overview.ts';
import { formatCount, formatDuration } from '../../components/numbers.ts';
import { formatStep, LATENCIES, OUTCOMES, type Series } from './series.ts';

interface ChartProps {
  points: OverviewPoint[];
  stepMs: number;
}

const HEIGHT = 240;
const MARGIN = { top: 8, right: 8, left: 8, bottom: 0 };
const GRID = <CartesianGrid vertical={false} stroke="var(--line)" />;
const AXIS = { tick: { fill: 'var(--text-soft)', fontSize: 12 }, stroke: 'var(--line-strong)' };

/** Time runs in the reading direction. */
function timeAxis(tickFormatter: (at: string) => string, isRtl: boolean) {
  return { ...AXIS, dataKey: 'at', tickFormatter, reversed: isRtl, minTickGap: 24 };
}

function valueAxis(tickFormatter: (value: number) => string, isRtl: boolean) {
  return { ...AXIS, tickFormatter, orientation: isRtl ? 'right' : 'left' } as const;
}

/** Orders by outcome, stacked, by time of receipt. */
export function OutcomeChart({ points, stepMs }: ChartProps): ReactNode {
  const { t, i18n } = useTranslation('overview');
  const isRtl = i18n.dir() === 'rtl';
  const timeOf = (at: string) => formatStep(at, stepMs, points.length);
  return (
    <ResponsiveContainer width="100%" height={HEIGHT}>
      <BarChart data={rowsOf(points, OUTCOMES)} title={t('outcomes')} margin={MARGIN}>
        {GRID}
        <XAxis {...timeAxis(timeOf, isRtl)} />
        <YAxis {...valueAxis(formatCount, isRtl)} allowDecimals={false} width={48} />
        <Tooltip
          cursor={{ fill: 'var(--sunken)' }}
          content={(props) => <ChartTooltip {...props} series={OUTCOMES} timeOf={timeOf} />}
        />
        {OUTCOMES.map(({ name, colour }) => (
          <Bar key={name} dataKey={name} stackId="all" fill={colour} isAnimationActive={false} maxBarSize={48} />
        ))}
      </BarChart>
    </ResponsiveContainer>
  );
}

/** Time from receipt to written; logarithmic because an outage makes it a thousand times longer. */
export function LatencyChart({ points, stepMs }: ChartProps): ReactNode {
  const { t, i18n } = useTranslation('overview');
  const isRtl = i18n.dir() === 'rtl';
  const timeOf = (at: string) => formatStep(at, stepMs, points.length);
  const ticks = powersAround(points.flatMap(({ p50_ms, p99_ms }) => [p50_ms, p99_ms]));
  return (
    <ResponsiveContainer width="100%" height={HEIGHT}>
      <LineChart data={rowsOf(points, LATENCIES)} title={t('latency')} margin={MARGIN}>
        {GRID}
        <XAxis {...timeAxis(timeOf, isRtl)} />
        <YAxis
          {...valueAxis(formatDuration, isRtl)}
          scale="log"
          domain={[ticks[0] as number, ticks.at(-1) as number]}
          ticks={ticks}
          width={80}
        />
        <Tooltip
          cursor={{ stroke: 'var(--line-strong)' }}
          content={(props) => <ChartTooltip {...props} series={LATENCIES} timeOf={timeOf} />}
        />
        {LATENCIES.map(({ name, colour, isDashed }) => (
          <Line
            key={name}
            dataKey={name}
            stroke={colour}
            strokeWidth={2}
            strokeDasharray={isDashed ? '6 3' : 'none'}
            // Without dots, a step between two empty steps would be invisible.
            dot={{ r: 2, fill: colour, strokeDasharray: 'none' }}
            isAnimationActive={false}
          />
        ))}
      </LineChart>
    </ResponsiveContainer>
  );
}

type Row = { at: string } & Record<string, number | string | null>;

function rowsOf(points: OverviewPoint[], series: Series[]): Row[] {
  return points.map((point) => ({
    at: point.at,
    ...Object.fromEntries(series.map(({ name, of }) => [name, of(point)])),
  }));
}

/** The powers of ten that enclose all values. */
function powersAround(values: readonly (number | null)[]): number[] {
  const present = values.filter((value) => value !== null);
  const low = present.length > 0 ? Math.floor(Math.log10(Math.min(...present))) : 0;
  const high = present.length > 0 ? Math.ceil(Math.log10(Math.max(...present))) : 3;
  return Array.from({ length: Math.max(2, high - low + 1) }, (_, index) => 10 ** (low + index));
}

function ChartTooltip({
  active,
  payload,
  label,
  series,
  timeOf,
}: TooltipContentProps & { series: Series[]; timeOf: (at: string) => string }): ReactNode {
  const { t, i18n } = useTranslation('overview');
  if (!active || !payload?.length) return null;
  const row = payload[0]?.payload as Row;
  return (
    <div className="card chart-tip" dir={i18n.dir()}>
      <strong>{timeOf(String(label))}</strong>
      <dl className="facts">
        {series.toReversed().map(({ name, format }) => {
          const value = row[name];
          return typeof value === 'number' && (value > 0 || name === 'written') ? (
            <div key={name} className="detail">
              <dt>{t(`series.${name}`)}</dt>
              <dd>{format(value)}</dd>
            </div>
          ) : null;
        })}
      </dl>
    </div>
  );
}
