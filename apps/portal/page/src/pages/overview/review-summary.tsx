import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { type Money, type ReviewOverview, SEVERITIES, useReviewOverview } from '../../api/overview.ts';
import { useAccountId } from '../../api/session.ts';
import { formatCount } from '../../components/numbers.ts';
import { formatAmount } from '../../components/order-values.ts';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { Ago } from '../../components/time.tsx';
import './summary.css';
import { formatStep } from './series.ts';

const HOUR_MS = 3_600_000;

/** Confirmed orders in each of the last 24 hours, as small bars with a table for screen readers. */
function HourBars({ hours }: { hours: ReviewOverview['confirmed']['per_hour'] }): ReactNode {
  const { t } = useTranslation('overview');
  const most = Math.max(0, ...hours.map(({ count }) => count));
  const hourOf = (at: string) => formatStep(at, HOUR_MS, hours.length);
  const title = t('review.perHour');
  return (
    <section className="card summary-card">
      <h2>{title}</h2>
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
    </section>
  );
}

/** What waits for a decision and what was decided today, with links to the orders. */
export function ReviewSummary(): ReactNode {
  const { t } = useTranslation('overview');
  const query = useReviewOverview(useAccountId());
  return (
    <section className="stack review-summary" aria-label={t('review.title')}>
      {query.isError && <ProblemNote error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton shape="blocks" count={4} />}
      {query.data && <Cards overview={query.data} />}
    </section>
  );
}

function Cards({ overview }: { overview: ReviewOverview }): ReactNode {
  const { waiting, confirmed, rejected, cancellation_requests: requests } = overview;
  const { t } = useTranslation('overview');
  const list = `/accounts/${useAccountId()}/review`;
  return (
    <div className="summary-cards">
      <section className="card summary-card">
        <h2>{t('review.waiting')}</h2>
        <p className="summary-number">
          <Link href={`${list}?sort=oldest`}>
            {formatCount(waiting.count)}
            {waiting.capped && '+'}
          </Link>
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
                formatted: `${formatCount(requests.count)}${requests.capped ? '+' : ''}`,
              })}
            </Link>
          </p>
        )}
        <MoneyList label={t('review.worth')} money={waiting.money} />
      </section>
      <section className="card summary-card">
        <h2>{t('review.bySeverity')}</h2>
        <dl className="severity-counts">
          {SEVERITIES.map((severity) => (
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
      </section>
      <section className="card summary-card">
        <h2>{t('review.confirmedToday')}</h2>
        <p className="summary-number">
          <Link href={`${list}?state=confirmed`}>
            {formatCount(confirmed.today)}
            {confirmed.capped && '+'}
          </Link>
        </p>
        <p className="hint">
          {t('review.lastHour', { count: confirmed.last_hour })}
          {' · '}
          {t('review.rejectedToday', { count: rejected.today })}
        </p>
        <MoneyList label={t('review.worth')} money={confirmed.money_today} />
      </section>
      <HourBars hours={confirmed.per_hour} />
    </div>
  );
}

/** Sums by currency, the largest first as the API sends them. */
function MoneyList({ label, money }: { label: string; money: Money[] }): ReactNode {
  if (money.length === 0) return null;
  return (
    <p className="summary-money">
      <span className="hint">{label}</span>
      {money.map(({ currency, total }) => (
        <bdi key={currency} dir="ltr">
          {currency} {formatAmount(total)}
        </bdi>
      ))}
    </p>
  );
}
