import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { type Money, type ReviewOverview, SEVERITIES, useReviewOverview } from '../../api/overview.ts';
import { useAccountId } from '../../api/session.ts';
import { formatAmount } from '../../components/format-value.ts';
import { formatCount } from '../../components/numbers.ts';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { Ago } from '../../components/time.tsx';
import { HourBars } from './hour-bars.tsx';
import './summary.css';

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
