import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { formatCount } from '../../components/numbers.ts';
import { type Filters, STATES } from './filters.ts';
import { useCounts } from './use-new-orders.ts';

/** Tabs of the three review states, with the number of orders that need review. */
export function StateTabs({
  accountId,
  filters,
  addressOf,
}: {
  accountId: number;
  filters: Filters;
  addressOf: (orderId: null, filters: Filters) => string;
}): ReactNode {
  const { t } = useTranslation('review');
  const { data: counts } = useCounts(accountId);
  return (
    <nav className="tabs" aria-label={t('state.label')}>
      {STATES.map((state) => (
        <Link
          key={state}
          href={addressOf(null, { ...filters, state })}
          aria-current={state === filters.state ? 'page' : undefined}
        >
          {t(`state.${state}`)}
          {state === 'needs_review' && counts && (
            <span className="badge" data-count>
              {formatCount(counts.needs_review)}
              {counts.capped && '+'}
            </span>
          )}
        </Link>
      ))}
    </nav>
  );
}
