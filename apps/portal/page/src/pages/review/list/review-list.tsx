import { useQuery } from '@tanstack/react-query';
import { ArrowUp, TriangleAlert } from 'lucide-react';
import { type ReactNode, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { readMatchingIds } from '../../../api/review-list.ts';
import { joinNames } from '../../../components/join-names.ts';
import { formatCount } from '../../../components/numbers.ts';
import { ProblemNote } from '../../../components/problem-note.tsx';
import { Skeleton } from '../../../components/skeleton.tsx';
import { timeOfDay } from '../../../components/time.tsx';
import { CancellationRequests } from './cancellation-requests.tsx';
import { EmptyList } from './empty-list.tsx';
import { type Filters, toQuery } from './filters.ts';
import { type BulkActions, ListHead } from './list-head.tsx';
import { OrderList } from './order-list.tsx';
import type { Announcement, Arrivals } from './use-arrivals.ts';
import type { useListNavigation } from './use-list-navigation.ts';
import type { useLiveList } from './use-live-list.ts';
import type { useReviewUrl } from './use-review-url.ts';
import type { useSelection } from './use-selection.ts';

/** The list with its header, loading state, error and empty state. */
export function ReviewList({
  live,
  selection,
  navigation,
  url,
  isCompact,
  isCovered,
  actions,
  strip,
}: {
  live: ReturnType<typeof useLiveList>;
  selection: ReturnType<typeof useSelection>;
  navigation: ReturnType<typeof useListNavigation>;
  url: ReturnType<typeof useReviewUrl>;
  isCompact: boolean;
  isCovered: boolean;
  actions: BulkActions;
  /** What became of the latest decisions, while the list is not covered. */
  strip: ReactNode;
}): ReactNode {
  const { t } = useTranslation('review');
  const { list, orders, arrivals, updates, sortedNewest } = live;
  const { accountId, filters } = url;
  const mayLoad = list.hasNextPage && !list.isFetching && !list.isFetchNextPageError;
  const isLoading = list.isPending || (list.isFetching && orders.length === 0);
  const viewers = updates.viewers ?? [];
  const order = t(`sort.${filters.sort || 'newest'}`);
  const openBy = useViewersByOrder(updates.viewers);
  return (
    <div className="review-list" inert={isCovered}>
      <CancellationRequests key={accountId} requests={updates.requests} addressOf={url.addressOf} />
      <ListHead
        state={filters.state}
        order={order}
        count={selection.ids.length}
        total={orders.length}
        isCompact={isCompact}
        viewers={viewers}
        actions={actions}
        onSelectAll={selection.selectAll}
        onClear={selection.clear}
      />
      {selection.ids.length > 0 && selection.ids.length === orders.length && list.hasNextPage && (
        <SelectMatching accountId={accountId} filters={filters} selection={selection} />
      )}
      <StaleNote since={updates.staleSince} retry={updates.retry} />
      {sortedNewest !== null && (
        <p className="hint list-limit">{t('sort.limited', { order, formatted: formatCount(sortedNewest) })}</p>
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
        <EmptyList accountId={accountId} filters={filters} hadOrders={live.hadOrders} onChange={url.filter} />
      )}
      <OrderList
        key={JSON.stringify(filters)}
        positionKey={['list position', accountId, filters]}
        label={t('list.label', { order })}
        orders={orders}
        addressOf={url.addressOf}
        currentId={navigation.currentId}
        openId={url.openId}
        selected={selection.selected}
        viewers={openBy}
        isCompact={isCompact}
        moves={navigation.moves}
        jumps={live.jumps}
        onSelect={selection.toggle}
        onVisit={navigation.visit}
        onTop={live.setAtTop}
        loadMore={mayLoad ? () => void list.fetchNextPage() : undefined}
      />
      {strip}
    </div>
  );
}

/** The names of the other reviewers by the order that they have open. */
function useViewersByOrder(viewers: ReturnType<typeof useLiveList>['updates']['viewers']): ReadonlyMap<number, string> {
  return useMemo(() => {
    const byOrder = Map.groupBy(viewers ?? [], ({ order_id }) => order_id);
    return new Map(
      [...byOrder].flatMap(([id, all]) => (id === null ? [] : [[id, joinNames(all.map(({ name }) => name))]])),
    );
  }, [viewers]);
}

/** Says that the list may be out of date, and since when. */
function StaleNote({ since, retry }: { since: number | null; retry: () => void }): ReactNode {
  const { t } = useTranslation('review');
  return (
    <div role="status">
      {since !== null && (
        <div className="stale-note">
          <TriangleAlert aria-hidden="true" size={16} />
          <span>{t('list.stale', { time: timeOfDay(since) })}</span>
          <button type="button" className="button" onClick={retry}>
            {t('common:action.retry')}
          </button>
        </div>
      )}
    </div>
  );
}

/** Announces new orders to screen readers, and offers to scroll up to those that wait above. */
function NewOrdersPill({
  arrivals,
  announcement,
  onJump,
}: {
  arrivals: Arrivals;
  announcement: Announcement | null;
  onJump: () => void;
}): ReactNode {
  const { t } = useTranslation('review');
  const count = arrivals.orders.length;
  return (
    <>
      <p className="visually-hidden" role="status">
        {/* The key makes screen readers announce the same text again. */}
        {announcement && <span key={announcement.newestId}>{t('list.new', { count: announcement.count })}</span>}
      </p>
      {count > 0 && (
        <button type="button" className="button new-orders" onClick={onJump}>
          <ArrowUp aria-hidden="true" size={16} />
          {t(arrivals.gap ? 'list.manyNew' : 'list.new', { count })}
        </button>
      )}
    </>
  );
}

/** Offers to select also the orders that are not loaded, once all loaded ones are selected. */
function SelectMatching({
  accountId,
  filters,
  selection,
}: {
  accountId: number;
  filters: Filters;
  selection: ReturnType<typeof useSelection>;
}): ReactNode {
  const { t } = useTranslation('review');
  const matching = useQuery({
    queryKey: ['matching ids', accountId, filters],
    queryFn: ({ signal }) => readMatchingIds(accountId, toQuery(filters), signal),
    staleTime: 0,
    gcTime: 0,
  });
  const { data } = matching;
  if (selection.isBeyond || !data || data.order_ids.length <= selection.ids.length) return null;
  const count = data.order_ids.length;
  return (
    <div className="select-matching">
      <button type="button" className="button button-quiet" onClick={() => selection.selectBeyond(data)}>
        {t(data.capped ? 'list.selectNewest' : 'list.selectMatching', { count, formatted: formatCount(count) })}
      </button>
    </div>
  );
}
