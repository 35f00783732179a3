import { CircleCheck, Inbox, SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { useSetup } from '../../../api/integrations.ts';
import { useCan } from '../../../api/session.ts';
import { EmptyState } from '../../../components/empty-state.tsx';
import { type Filters, isNarrowed, NO_FILTERS } from './filters.ts';
import type { ChangeFilters } from './search-box.tsx';

/** Says why the list is empty and what to do next. */
export function EmptyList({
  accountId,
  filters,
  hadOrders,
  onChange,
}: {
  accountId: number;
  filters: Filters;
  /** Whether the list had orders; otherwise the account may be new. */
  hadOrders: boolean;
  onChange: ChangeFilters;
}): ReactNode {
  const { t } = useTranslation('review');
  const can = useCan();
  const isFinished = filters.state === 'needs_review' && !isNarrowed(filters);
  const hasDecided = useHasDecided(accountId, isFinished && !hadOrders);
  if (isNarrowed(filters))
    return (
      <EmptyState
        icon={<SearchX size={24} />}
        title={t('list.noMatch')}
        action={
          <button type="button" className="button" onClick={() => onChange(NO_FILTERS)}>
            {t('filter.clear')}
          </button>
        }
      />
    );
  if (!isFinished)
    return (
      <EmptyState
        icon={<Inbox size={24} />}
        title={t(`list.none.${filters.state}`)}
        action={
          <button type="button" className="button" onClick={() => onChange({ state: 'needs_review' })}>
            {t('list.toReview')}
          </button>
        }
      />
    );
  if (!hadOrders && hasDecided === undefined) return null;
  if (hadOrders || hasDecided)
    return (
      <EmptyState icon={<CircleCheck size={24} />} title={t('list.none.needs_review')} text={t('list.noneHint')} />
    );
  return (
    <EmptyState
      icon={<Inbox size={24} />}
      title={t('list.first')}
      text={t('list.firstHint')}
      action={
        can('develop') && (
          <Link href={`/accounts/${accountId}/integrations`} className="button button-main">
            {t('list.connect')}
          </Link>
        )
      }
    />
  );
}

/** Whether the account has decided orders, or undefined until that is known. */
function useHasDecided(accountId: number, isAsked: boolean): boolean | undefined {
  const { data, isError, isFetchedAfterMount } = useSetup(accountId, isAsked);
  if (isError) return true;
  // An earlier answer may be from before the first decision.
  return isFetchedAfterMount ? data?.has_decision : undefined;
}
