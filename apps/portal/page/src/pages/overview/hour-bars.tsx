import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ReviewOverview } from '../../api/overview.ts';
import { formatCount } from '../../components/numbers.ts';
import { formatStep } from './series.ts';

const HOUR_MS = 3_600_000;

/** Confirmed orders in each of the last 24 hours, as small bars with a table for screen readers. */
export function HourBars({ hours }: { hours: ReviewOverview['confirmed']['per_hour'] }): ReactNode {
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
