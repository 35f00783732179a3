import { type InfiniteData, type QueryClient, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call } from '../../../api/client.ts';
import type { ListedOrder, ReviewState } from '../../../api/review.ts';
import { type Filters, toQuery } from './filters.ts';

interface OrderPage {
  orders: ListedOrder[];
  next_cursor: string | null;
  /** The order is complete only for this many of the newest orders; null if for all. */
  sorted_newest: number | null;
}

type Pages = InfiniteData<OrderPage, string | null>;

const PAGE_SIZE = 100;
/** How long the way back finds a list as it was left, in milliseconds. */
const KEPT_MS = 10 * 60_000;

/** Forgets a list, so that a link to it loads it; the way back shows it as it was left. */
export function forgetList(queryClient: QueryClient, accountId: number, filters: Filters): void {
  if (
    queryClient
      .getQueryCache()
      .find({ queryKey: ['orders', accountId, filters] })
      ?.isActive()
  )
    return;
  for (const name of ['orders', 'list position', 'events seen'])
    queryClient.removeQueries({ queryKey: [name, accountId, filters], exact: true });
}

/**
 * The orders that match the filters, as far as they are loaded. The list is never refetched automatically because it may
 * be hundreds of pages long: `addNew` adds new orders, `replace` updates changed ones.
 */
export function useOrderList(accountId: number, filters: Filters) {
  const queryClient = useQueryClient();
  const queryKey = ['orders', accountId, filters];
  const list = useInfiniteQuery({
    queryKey,
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      call<OrderPage>('GET', `/accounts/${accountId}/orders`, {
        query: { ...toQuery(filters), cursor: pageParam, limit: PAGE_SIZE },
        signal,
      }),
    getNextPageParam: (page) => page.next_cursor,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: KEPT_MS,
  });
  const orders = useMemo(() => list.data?.pages.flatMap((page) => page.orders) ?? [], [list.data]);

  const edit = (
    change: (orders: ListedOrder[], index: number) => ListedOrder[],
    key: readonly unknown[] = queryKey,
  ): void => {
    queryClient.setQueriesData<Pages>(
      { queryKey: key },
      (data) =>
        data && { ...data, pages: data.pages.map((page, index) => ({ ...page, orders: change(page.orders, index) })) },
    );
  };
  const addNew = (arrived: ListedOrder[]) => edit((page, index) => (index === 0 ? [...arrived, ...page] : page));
  const replace = (order: ListedOrder) =>
    edit((page) => page.map((listed) => (listed.order_id === order.order_id ? order : listed)));
  /** Marks orders as sent again with a change that nobody has decided about. */
  const markUndecided = (ids: number[]) =>
    edit((page) =>
      page.map((listed) => (ids.includes(listed.order_id) ? { ...listed, resent: 'undecided' as const } : listed)),
    );
  /** Sets the state of orders in each kept list of the account. */
  const setStates = (states: ReadonlyMap<number, ReviewState>) => {
    const moved = (listed: ListedOrder) => {
      const review_state = states.get(listed.order_id) ?? listed.review_state;
      return review_state === listed.review_state ? listed : { ...listed, review_state };
    };
    edit((page) => page.map(moved), ['orders', accountId]);
  };
  /** Loads the list again from its beginning. Until then the loaded orders stay. */
  const reload = async () => {
    await queryClient.cancelQueries({ queryKey, exact: true });
    queryClient.setQueryData<Pages>(
      queryKey,
      (data) => data && { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) },
    );
    await queryClient.refetchQueries({ queryKey, exact: true });
  };
  const sortedNewest = list.data?.pages[0]?.sorted_newest ?? null;
  return { list, orders, sortedNewest, addNew, replace, markUndecided, setStates, reload };
}
