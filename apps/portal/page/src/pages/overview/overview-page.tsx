import { lazy, type ReactNode, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Overview, RANGES, type Range, useOverview } from '../../api/overview.ts';
import { useAccountId } from '../../api/session.ts';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Segments } from '../../components/segments.tsx';
import { fullTime } from '../../components/time.tsx';
import { ChartFigure } from './chart-figure.tsx';
import { LATENCIES, OUTCOMES } from './series.ts';
import { Tiles } from './tiles.tsx';
import { TopWarnings } from './top-warnings.tsx';
import './overview.css';

const OutcomeChart = lazy(() => import('./charts.tsx').then((module) => ({ default: module.OutcomeChart })));
const LatencyChart = lazy(() => import('./charts.tsx').then((module) => ({ default: module.LatencyChart })));

/** Workers update the counts every minute; older ones mean that no worker runs. */
const LATE_MS = 240_000;

/** Outcomes and latency of an account's orders over time. */
export function OverviewPage(): ReactNode {
  const { t } = useTranslation('overview');
  const [range, setRange] = useState<Range>('day');
  const query = useOverview(useAccountId(), range);
  return (
    <div className="stack">
      <div className="spread">
        <h1>{t('title')}</h1>
        <Segments
          label={t('range.label')}
          hidesLabel
          options={RANGES.map((value) => ({ value, name: t(`range.${value}`) }))}
          value={range}
          onChange={setRange}
        />
      </div>
      {query.isError && <ProblemNote error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <p className="hint">{t('common:state.loading')}</p>}
      {query.data && <OverviewContent overview={query.data} updatedAt={query.dataUpdatedAt} />}
    </div>
  );
}

function OverviewContent({ overview, updatedAt }: { overview: Overview; updatedAt: number }): ReactNode {
  const { t } = useTranslation('overview');
  const { as_of, totals, points, step_ms, warnings } = overview;
  const isLate = as_of === null || updatedAt - new Date(as_of).getTime() > LATE_MS;
  return (
    <>
      <p className={isLate ? 'note note-warn' : 'hint'}>
        {as_of === null ? t('never') : t(isLate ? 'late' : 'asOf', { time: fullTime(as_of) })}
      </p>
      <Tiles totals={totals} />
      <ChartFigure title={t('outcomes')} points={points} series={OUTCOMES} stepMs={step_ms}>
        <Suspense fallback={<p className="hint">{t('common:state.loading')}</p>}>
          <OutcomeChart points={points} stepMs={step_ms} />
        </Suspense>
      </ChartFigure>
      <ChartFigure title={t('latency')} points={points} series={LATENCIES} stepMs={step_ms}>
        <Suspense fallback={<p className="hint">{t('common:state.loading')}</p>}>
          <LatencyChart points={points} stepMs={step_ms} />
        </Suspense>
      </ChartFigure>
      <TopWarnings warnings={warnings} />
    </>
  );
}
