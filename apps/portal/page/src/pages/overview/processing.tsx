import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Overview, RANGES, type Range, useOverview } from '../../api/overview.ts';
import { useAccountId } from '../../api/session.ts';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Segments } from '../../components/segments.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { fullTime } from '../../components/time.tsx';
import { ChartFigure } from './chart-figure.tsx';
import { LatencyChart } from './latency-chart.tsx';
import { OutcomeChart } from './outcome-chart.tsx';
import { LATENCIES, OUTCOMES } from './series.ts';
import { Tiles } from './tiles.tsx';
import { TopWarnings } from './top-warnings.tsx';

/** Workers update the counts every minute; older ones mean that no worker runs. */
const LATE_MS = 240_000;

/** Outcomes and latency of an account's orders over time, for engineers. */
export function Processing(): ReactNode {
  const { t } = useTranslation('overview');
  const [range, setRange] = useState<Range>('day');
  const query = useOverview(useAccountId(), range);
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
      {query.isError && <ProblemNote error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton shape="blocks" count={3} />}
      {query.data && <Content overview={query.data} updatedAt={query.dataUpdatedAt} />}
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
