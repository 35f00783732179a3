import { type ReactNode, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { joinNames } from '../../components/join-names.ts';
import { formatCount } from '../../components/numbers.ts';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { CancellationRequests } from './cancellation-requests.tsx';
import { EmptyList } from './empty-list.tsx';
import { type BulkActions, ListHead } from './list-head.tsx';
import { NewOrdersPill } from './new-orders-pill.tsx';
import { OrderList } from './order-list.tsx';
import { SelectMatching } from './select-matching.tsx';
import { StaleNote } from './stale-note.tsx';
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
