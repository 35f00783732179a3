import { lazy, type ReactNode, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { OVERVIEW_INTERVAL_MS, type ReviewOverview } from '../../api/overview.ts';
import { useGet } from '../../api/queries.ts';
import { useAccountId } from '../../api/session.ts';
import { Card } from '../../components/card.tsx';
import { Loaded, Skeleton } from '../../components/loaded.tsx';
import { formatCount } from '../../components/numbers.ts';
import { formatAmount } from '../../components/order-values.ts';
import { HelpLink, PageHeader } from '../../components/page-header.tsx';
import { Ago } from '../../components/time.tsx';
import { FILTER_VALUES } from '../orders/list/filters.ts';
import { formatStep } from './series.ts';
import './overview.css';

const Processing = lazy(() => import('./processing.tsx'));

/** First what waits for reviewers, then how orders are processed, for engineers. */
export default function OverviewPage(): ReactNode {
  const { t } = useTranslation('overview');
  return (
    <div className="stack overview">
      <PageHeader title={t('common:nav.overview')} about={t('about')}>
        <HelpLink page="overview" />
      </PageHeader>
      <ReviewSummary />
      <Suspense fallback={<Skeleton shape="blocks" count={3} />}>
        <Processing />
      </Suspense>
    </div>
  );
}

const HOUR_MS = 3_600_000;

/** Confirmed orders in each of the last 24 hours, as small bars with a table for screen readers. */
function HourBars({ hours }: { hours: ReviewOverview['confirmed']['per_hour'] }): ReactNode {
  const { t } = useTranslation('overview');
  const most = Math.max(0, ...hours.map(({ count }) => count));
  const hourOf = (at: string) => formatStep(at, HOUR_MS, hours.length);
  const title = t('review.perHour');
  return (
    <Card title={title} className="summary-card">
      <svg
        className="hour-bars flips"
        viewBox={`0 0 ${hours.length} 20`}
        preserveAspectRatio="none"
        aria-hidden="true"
        focusable="false"
      >
        {hours.map(({ at, count }, index) => {
          // An hour without a decision keeps a line, so that the axis stays visible.
          const height = Math.max(0.4, (count / (most || 1)) * 20);
          return (
            <rect key={at} x={index + 0.1} width={0.8} y={20 - height} height={height}>
              <title>{`${hourOf(at)}: ${formatCount(count)}`}</title>
            </rect>
          );
        })}
      </svg>
      <p className="hour-range hint" aria-hidden="true">
        <span>{hours[0] && hourOf(hours[0].at)}</span>
        <span>{t('review.mostPerHour', { count: most })}</span>
        <span>{t('review.now')}</span>
      </p>
      <table className="visually-hidden">
        <caption>{title}</caption>
        <tbody>
          {hours.map(({ at, count }) => (
            <tr key={at}>
              <th scope="row">{hourOf(at)}</th>
              <td>{formatCount(count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

/** What waits for a decision and what was decided today, with links to the orders. */
function ReviewSummary(): ReactNode {
  const { t } = useTranslation('overview');
  const accountId = useAccountId();
  // Today begins at midnight where the reader is.
  const time_zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const query = useGet<ReviewOverview>(
    ['overview', accountId, 'review', time_zone],
    `/accounts/${accountId}/overview/review`,
    { query: { time_zone }, refetchInterval: OVERVIEW_INTERVAL_MS },
  );
  return (
    <section className="stack review-summary" aria-label={t('review.title')}>
      <Loaded query={query} skeleton={<Skeleton shape="blocks" count={4} />}>
        {(overview) => <Cards overview={overview} />}
      </Loaded>
    </section>
  );
}

function Cards({ overview }: { overview: ReviewOverview }): ReactNode {
  const { waiting, confirmed, rejected, cancellation_requests: requests } = overview;
  const { t } = useTranslation('overview');
  const list = `/accounts/${useAccountId()}/orders`;
  return (
    <div className="summary-cards">
      <Card title={t('review.waiting')} className="summary-card">
        <p className="summary-number">
          <Link href={`${list}?sort=oldest`}>{formatCount(waiting.count, waiting.capped)}</Link>
        </p>
        <p className="hint">
          {waiting.oldest_at === null ? (
            t('review.nothingWaits')
          ) : (
            <>
              {t('review.oldest')} <Ago at={waiting.oldest_at} />
            </>
          )}
        </p>
        {requests.count > 0 && (
          <p>
            <Link href={list} className="badge badge-bad">
              {t('review.cancellationRequests', {
                count: requests.count,
                formatted: formatCount(requests.count, requests.capped),
              })}
            </Link>
          </p>
        )}
        <MoneyList money={waiting.money} />
      </Card>
      <Card title={t('review.bySeverity')} className="summary-card">
        <dl className="severity-counts">
          {FILTER_VALUES.severity.map((severity) => (
            <div key={severity}>
              <dt>
                <Link href={`${list}?severity=${severity}&sort=oldest`}>
                  <span className={`severity-dot is-${severity}`} aria-hidden="true" />
                  {t(`severity.${severity}`)}
                </Link>
              </dt>
              <dd>{formatCount(waiting.by_severity[severity])}</dd>
            </div>
          ))}
        </dl>
      </Card>
      <Card title={t('review.confirmedToday')} className="summary-card">
        <p className="summary-number">
          <Link href={`${list}?state=confirmed`}>{formatCount(confirmed.today, confirmed.capped)}</Link>
        </p>
        <p className="hint">
          {t('review.lastHour', { count: confirmed.last_hour })}
          {' · '}
          {t('review.rejectedToday', { count: rejected.today })}
        </p>
        <MoneyList money={confirmed.money_today} />
      </Card>
      <HourBars hours={confirmed.per_hour} />
    </div>
  );
}

/** Sums by currency, the largest first as the API sends them. */
function MoneyList({ money }: { money: ReviewOverview['waiting']['money'] }): ReactNode {
  const { t } = useTranslation('overview');
  if (money.length === 0) return null;
  return (
    <p className="summary-money">
      <span className="hint">{t('review.worth')}</span>
      {money.map(({ currency, total }) => (
        <bdi key={currency} dir="ltr">
          {currency} {formatAmount(total)}
        </bdi>
      ))}
    </p>
  );
}
