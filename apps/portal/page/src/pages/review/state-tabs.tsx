import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { STATES } from '../../api/review.ts';
import type { Updates } from '../../api/review-list.ts';
import { formatCount } from '../../components/numbers.ts';
import type { Filters } from './filters.ts';

/** Tabs of the review states, with the number of orders that need review. */
export function StateTabs({
  counts,
  filters,
  addressOf,
  onOpen,
}: {
  counts: Updates['counts'] | undefined;
  filters: Filters;
  addressOf: (orderId: null, filters: Filters) => string;
  onOpen: (filters: Filters) => void;
}): ReactNode {
  const { t } = useTranslation('review');
  return (
    <nav className="tabs" aria-label={t('state.label')}>
      {STATES.map((state) => (
        <Link
          key={state}
          href={addressOf(null, { ...filters, state })}
          onClick={() => onOpen({ ...filters, state })}
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
