import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ReviewState } from '../../api/review.ts';
import { ProblemNote } from '../../components/problem-note.tsx';
import { isNarrowed } from './filters.ts';
import { ListHead } from './list-head.tsx';
import { NewOrdersPill } from './new-orders-pill.tsx';
import { OrderList } from './order-list.tsx';
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
  onReview,
}: {
  live: ReturnType<typeof useLiveList>;
  selection: ReturnType<typeof useSelection>;
  navigation: ReturnType<typeof useListNavigation>;
  url: ReturnType<typeof useReviewUrl>;
  isCompact: boolean;
  isCovered: boolean;
  onReview: (to: ReviewState) => void;
}): ReactNode {
  const { t } = useTranslation('review');
  const { list, orders, arrivals } = live;
  const { filters } = url;
  const mayLoad = list.hasNextPage && !list.isFetching && !list.isFetchNextPageError;
  return (
    <div className="review-list" inert={isCovered}>
      <ListHead
        state={filters.state}
        count={selection.ids.length}
        total={orders.length}
        isCompact={isCompact}
        onSelectAll={selection.selectAll}
        onClear={selection.clear}
        onReview={onReview}
      />
      <NewOrdersPill arrivals={arrivals} announcement={live.announcement} onJump={live.jump} />
      {(list.isPending || (list.isFetching && orders.length === 0)) && (
        <p className="hint list-note">{t('common:state.loading')}</p>
      )}
      {list.isError && (
        <ProblemNote
          error={list.error}
          retry={() => void (list.isFetchNextPageError ? list.fetchNextPage() : list.refetch())}
        />
      )}
      {list.isSuccess && orders.length === 0 && !list.hasNextPage && (
        <div className="list-note">
          <p>{t(isNarrowed(filters) ? 'list.noMatch' : `list.none.${filters.state}`)}</p>
          {filters.state === 'needs_review' && !isNarrowed(filters) && <p className="hint">{t('list.noneHint')}</p>}
        </div>
      )}
      <OrderList
        key={JSON.stringify(filters)}
        positionKey={['list position', url.accountId, filters]}
        orders={orders}
        addressOf={url.addressOf}
        currentId={navigation.currentId}
        openId={url.openId}
        selected={selection.selected}
        isCompact={isCompact}
        moves={navigation.moves}
        jumps={live.jumps}
        onSelect={selection.toggle}
        onVisit={navigation.visit}
        onTop={live.setAtTop}
        loadMore={mayLoad ? () => void list.fetchNextPage() : undefined}
      />
    </div>
  );
}
