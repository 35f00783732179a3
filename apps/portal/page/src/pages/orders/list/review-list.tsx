import { CircleCheck, Inbox, SearchX } from 'lucide-react';
import { type ReactNode, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { useSetup } from '../../../api/integrations.ts';
import { useGet } from '../../../api/queries.ts';
import type { MatchingIds } from '../../../api/review-list.ts';
import { useCan } from '../../../api/session.ts';
import { Button } from '../../../components/button.tsx';
import { EmptyState, ProblemNote, Skeleton } from '../../../components/loaded.tsx';
import { formatCount } from '../../../components/numbers.ts';
import { lazyPage } from '../../lazy-page.tsx';
import type { Next } from '../decide/use-next-for-me.ts';
import { CancellationRequests } from './cancellation-requests.tsx';
import { isNarrowed, NO_FILTERS, toQuery } from './filters.ts';
import { type BulkActions, ListHead } from './list-head.tsx';
import { FailedDeliveries, NewOrdersPill, SnoozedOrders, StaleNote } from './list-notes.tsx';
import type { ListState } from './list-state.ts';
import { OrderList } from './order-list.tsx';
import type { FoundInState } from './use-order-search.ts';
import './list.css';

/** The list with its header, loading state, error and empty state. */
export function ReviewList(
  props: ListState & {
    isCovered: boolean;
    /** What the search finds in all states; undefined without a search. */
    found: readonly FoundInState[] | undefined;
    next: Next | null;
    actions: BulkActions;
    /** What became of the latest decisions, while the list is not covered. */
    strip: ReactNode;
  },
): ReactNode {
  const { isCovered, found, next, actions, strip, ...state } = props;
  const { live, selection, url, isCompact } = state;
  const { t } = useTranslation('review');
  const { list, orders, arrivals, updates, sortedNewest } = live;
  const { accountId, filters } = url;
  const isLoading = list.isPending || (list.isFetching && orders.length === 0);
  const order = t(`sort.${filters.sort || 'newest'}`);
  return (
    <div className="review-list" inert={isCovered}>
      <FailedDeliveries key={`failed ${accountId}`} accountId={accountId} />
      <CancellationRequests key={accountId} requests={updates.requests} addressOf={url.addressOf} />
      {filters.state === 'needs_review' && <SnoozedOrders snoozed={updates.snoozed ?? []} addressOf={url.addressOf} />}
      <ListHead {...state} order={order} next={next} actions={actions} />
      {selection.ids.length > 0 && selection.ids.length === orders.length && list.hasNextPage && (
        <SelectMatching url={url} selection={selection} />
      )}
      <StaleNote since={updates.staleSince} retry={updates.retry} />
      {sortedNewest !== null && (
        <p className="hint row list-limit">{t('sort.limited', { order, formatted: formatCount(sortedNewest) })}</p>
      )}
      <NewOrdersPill arrivals={arrivals} announcement={live.announcement} onJump={live.jump} />
      {isLoading && (
        <div className={isCompact ? 'list-skeleton is-compact' : 'list-skeleton'}>
          <Skeleton shape="rows" count={14} />
        </div>
      )}
      {list.isError && (
        <ProblemNote
          error={list.error}
          retry={() => void (list.isFetchNextPageError ? list.fetchNextPage() : list.refetch())}
        />
      )}
      {list.isSuccess && !isLoading && orders.length === 0 && !list.hasNextPage && (
        <EmptyList url={url} hadOrders={live.hadOrders} found={found} />
      )}
      <OrderList key={JSON.stringify(filters)} {...state} label={t('list.label', { order })} />
      {strip}
    </div>
  );
}

/** Offers to select also the orders that are not loaded, once all loaded ones are selected. */
function SelectMatching({ url, selection }: Pick<ListState, 'url' | 'selection'>): ReactNode {
  const { accountId, filters } = url;
  const { t } = useTranslation('review');
  const { data } = useGet<MatchingIds>(['matching ids', accountId, filters], `/accounts/${accountId}/orders/ids`, {
    query: toQuery(filters),
    staleTime: 0,
    gcTime: 0,
  });
  if (selection.isBeyond || !data || data.order_ids.length <= selection.ids.length) return null;
  const count = data.order_ids.length;
  return (
    <div className="row select-matching">
      <Button kind="quiet" onClick={() => selection.selectBeyond(data)}>
        {t(data.capped ? 'list.selectNewest' : 'list.selectMatching', { count, formatted: formatCount(count) })}
      </Button>
    </div>
  );
}

const FirstSteps = lazyPage('first steps', () => import('./first-steps.tsx'), ['integrations', 'sources']);

/** Says why the list is empty and what to do next. */
function EmptyList(props: {
  url: ListState['url'];
  /** Whether the list had orders; otherwise the account may be new. */
  hadOrders: boolean;
  found: readonly FoundInState[] | undefined;
}): ReactNode {
  const { accountId, filters, filter, addressOf, forget } = props.url;
  const { hadOrders, found } = props;
  const { t } = useTranslation('review');
  const can = useCan();
  const elsewhere = (found ?? []).filter(({ state, count }) => state !== filters.state && count > 0);
  const isFinished = filters.state === 'needs_review' && !isNarrowed(filters);
  const hasDecided = useHasDecided(accountId, isFinished && !hadOrders);
  if (isNarrowed(filters))
    return (
      <EmptyState
        icon={<SearchX size={24} />}
        title={t('list.noMatch')}
        action={<Button onClick={() => filter(NO_FILTERS)}>{t('filter.clear')}</Button>}
      >
        {elsewhere.length > 0 && (
          <ul className="plain">
            {elsewhere.map(({ state, count, is_more }) => (
              <li key={state}>
                <Link href={addressOf(null, { ...filters, state })} onClick={() => forget({ ...filters, state })}>
                  {t('list.elsewhere', {
                    formatted: formatCount(count, is_more),
                    state: t(`state.${state}`),
                  })}
                </Link>
              </li>
            ))}
          </ul>
        )}
      </EmptyState>
    );
  if (!isFinished)
    return (
      <EmptyState
        icon={<Inbox size={24} />}
        title={t(`list.none.${filters.state}`)}
        action={<Button onClick={() => filter({ state: 'needs_review' })}>{t('list.toReview')}</Button>}
      />
    );
  if (!hadOrders && hasDecided === undefined) return null;
  if (hadOrders || hasDecided)
    return (
      <EmptyState icon={<CircleCheck size={24} />} title={t('list.none.needs_review')} text={t('list.noneHint')} />
    );
  return (
    <>
      <EmptyState icon={<Inbox size={24} />} title={t('list.first')} text={t('list.firstHint')} />
      {can('develop') && (
        <Suspense fallback={<Skeleton shape="blocks" count={2} />}>
          <FirstSteps />
        </Suspense>
      )}
    </>
  );
}

/** Whether the account has decided orders, or undefined until that is known. */
function useHasDecided(accountId: number, isAsked: boolean): boolean | undefined {
  const { data, isError, isFetchedAfterMount } = useSetup(accountId, isAsked);
  if (isError) return true;
  // An earlier answer may be from before the first decision.
  return isFetchedAfterMount ? data?.has_decision : undefined;
}
