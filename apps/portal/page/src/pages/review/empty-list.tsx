import { useQuery } from '@tanstack/react-query';
import { CircleCheck, Inbox, SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { call } from '../../api/client.ts';
import type { ListedOrder } from '../../api/review.ts';
import { EmptyState } from '../../components/empty-state.tsx';
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
        <Link href={`/accounts/${accountId}/integrations`} className="button button-main">
          {t('list.connect')}
        </Link>
      }
    />
  );
}

/** Whether the account has decided orders, or undefined until that is known. */
function useHasDecided(accountId: number, isAsked: boolean): boolean | undefined {
  const read = async (state: string, signal: AbortSignal) => {
    const query = { state, limit: 1 };
    const page = await call<{ orders: ListedOrder[] }>('GET', `/accounts/${accountId}/orders`, { query, signal });
    return page.orders.length > 0;
  };
  const decided = useQuery({
    queryKey: ['has decided', accountId],
    queryFn: async ({ signal }) => (await read('confirmed', signal)) || (await read('rejected', signal)),
    enabled: isAsked,
    gcTime: 0,
  });
  // An account without orders may get one and lose it to another reviewer while this page is open.
  return decided.isError ? true : decided.data;
}
