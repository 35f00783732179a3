import { keepPreviousData } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { OVERVIEW_INTERVAL_MS, type Overview, RANGES, type Range } from '../../api/overview.ts';
import { useGet } from '../../api/queries.ts';
import { useAccountId } from '../../api/session.ts';
import { Mono } from '../../components/card.tsx';
import { Loaded, Skeleton } from '../../components/loaded.tsx';
import { formatCount, formatDuration } from '../../components/numbers.ts';
import { Segments } from '../../components/segments.tsx';
import { fullTime } from '../../components/time.tsx';
import { ChartFigure, LatencyChart, OutcomeChart } from './charts.tsx';
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
