import { keepPreviousData } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { OVERVIEW_INTERVAL_MS, type Overview, type OverviewPoint, RANGES, type Range } from '../../api/overview.ts';
import { useGet } from '../../api/queries.ts';
import { useAccountId } from '../../api/session.ts';
import { Mono } from '../../components/card.tsx';
import { Loaded, Skeleton } from '../../components/loaded.tsx';
import { formatCount, formatDuration } from '../../components/numbers.ts';
import { Segments } from '../../components/segments.tsx';
import { fullTime } from '../../components/time.tsx';
import { ChartFigure } from './chart-figure.tsx';
import { Plot } from './plot.tsx';
import { LATENCIES, OUTCOMES, pendingOf } from './series.ts';

/** Workers update the counts every minute; older ones mean that no worker runs. */
const LATE_MS = 240_000;

/** Outcomes and latency of an account's orders over time, for engineers. */
export default function Processing(): ReactNode {
  const { t } = useTranslation('overview');
  const [range, setRange] = useState<Range>('day');
  const accountId = useAccountId();
  // At most a minute old while a worker runs.
  const query = useGet<Overview>(['overview', accountId, range], `/accounts/${accountId}/overview`, {
    query: { range },
    refetchInterval: OVERVIEW_INTERVAL_MS,
    placeholderData: keepPreviousData,
  });
  return (
    <section className="stack processing" aria-labelledby="processing-title">
      <div className="spread">
        <h2 id="processing-title">{t('processing.title')}</h2>
        <Segments
          label={t('range.label')}
          hidesLabel
          options={RANGES.map((value) => ({ value, name: t(`range.${value}`) }))}
          value={range}
          onChange={setRange}
        />
      </div>
      <Loaded query={query} skeleton={<Skeleton shape="blocks" count={3} />}>
        {(overview) => <Content overview={overview} updatedAt={query.dataUpdatedAt} />}
      </Loaded>
    </section>
  );
}

function Content({ overview, updatedAt }: { overview: Overview; updatedAt: number }): ReactNode {
  const { t } = useTranslation('overview');
  const { as_of, totals, points, step_ms, warnings } = overview;
  const isLate = as_of === null || updatedAt - new Date(as_of).getTime() > LATE_MS;
  return (
    <>
      <p className={isLate ? 'note note-warn' : 'hint'}>
        {as_of === null ? t('never') : t(isLate ? 'late' : 'asOf', { time: fullTime(as_of) })}
      </p>
      <Tiles totals={totals} />
      <div className="charts">
        <ChartFigure title={t('outcomes')} points={points} series={OUTCOMES} stepMs={step_ms}>
          <OutcomeChart points={points} stepMs={step_ms} />
        </ChartFigure>
        <ChartFigure title={t('latency')} points={points} series={LATENCIES} stepMs={step_ms}>
          <LatencyChart points={points} stepMs={step_ms} />
        </ChartFigure>
      </div>
      <TopWarnings warnings={warnings} />
    </>
  );
}

/** The most frequent warnings, by the sender's field. */
function TopWarnings({ warnings }: { warnings: Overview['warnings'] }): ReactNode {
  const { t } = useTranslation(['overview', 'review']);
  const accountId = useAccountId();
  const maxCount = warnings[0]?.count ?? 1;
  return (
    <section className="card stack-tight">
      <div className="spread">
        <h3>{t('warnings.title')}</h3>
        <Link href={`/accounts/${accountId}/orders?severity=check`}>{t('warnings.show')}</Link>
      </div>
      <p className="hint">{t(warnings.length > 0 ? 'warnings.about' : 'warnings.none')}</p>
      <ol className="plain stack-tight">
        {warnings.map(({ pointer, code, count }) => (
          <li key={`${code} ${pointer}`} className="warning-bar">
            <span className="spread">
              <span>
                {t(`review:warning.${code}`, { defaultValue: code })} <Mono isHint>{pointer || '/'}</Mono>
              </span>
              <span>{formatCount(count)}</span>
            </span>
            <span className="warning-share" style={{ inlineSize: `${(count / maxCount) * 100}%` }} />
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Orders by outcome, stacked, by time of receipt. */
function OutcomeChart({ points, stepMs }: { points: OverviewPoint[]; stepMs: number }): ReactNode {
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
function LatencyChart({ points, stepMs }: { points: OverviewPoint[]; stepMs: number }): ReactNode {
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

/** The totals of the range. */
function Tiles({ totals }: { totals: Overview['totals'] }): ReactNode {
  const { t } = useTranslation('overview');
  const receipts = `/accounts/${useAccountId()}/receipts`;
  const moving = pendingOf(totals);
  const ms = (value: number | null) => (value === null ? '–' : formatDuration(value));
  return (
    <dl className="tiles">
      <Tile
        name="accepted"
        value={formatCount(totals.accepted)}
        hint={moving > 0 ? t('moving', { count: moving }) : ''}
      />
      <Tile name="written" value={formatCount(totals.written)} />
      <Tile name="duplicate" value={formatCount(totals.duplicate)} />
      <Tile
        name="failed"
        value={formatCount(totals.failed)}
        kind={totals.failed > 0 ? 'is-warn' : ''}
        href={totals.failed > 0 ? `${receipts}?state=failed` : null}
      />
      <Tile
        name="dead"
        value={formatCount(totals.dead)}
        kind={totals.dead > 0 ? 'is-bad' : ''}
        href={totals.dead > 0 ? `${receipts}?state=dead` : null}
      />
      <Tile name="p50" value={ms(totals.p50_ms)} hint={t('within99', { time: ms(totals.p99_ms) })} />
    </dl>
  );
}

function Tile(props: { name: string; value: string; hint?: string; kind?: string; href?: string | null }): ReactNode {
  const { name, value, hint = '', kind = '', href = null } = props;
  const { t } = useTranslation('overview');
  return (
    <div className={`card tile ${kind}`}>
      <dt className="hint">{t(`tile.${name}`)}</dt>
      <dd>
        <strong>{href ? <Link href={href}>{value}</Link> : value}</strong>
        {hint && <span className="hint">{hint}</span>}
      </dd>
    </div>
  );
}
