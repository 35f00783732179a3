import { type InfiniteData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { call } from '../../api/client.ts';
import type { ListedOrder } from '../../api/review.ts';
import { type Filters, toQuery } from './filters.ts';

interface OrderPage {
  orders: ListedOrder[];
  next_cursor: string | null;
}

type Pages = InfiniteData<OrderPage, string | null>;

const PAGE_SIZE = 100;

/**
 * The orders that match the filters, newest first, as far as they are loaded. The list is never refetched automatically because it may
 * be hundreds of pages long: `addNew` adds new orders, `replace` updates changed ones.
 */
export function useOrderList(accountId: number, filters: Filters) {
  const queryClient = useQueryClient();
  const queryKey = useMemo(() => ['orders', accountId, filters], [accountId, filters]);
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
    gcTime: 0,
  });
  const orders = useMemo(() => list.data?.pages.flatMap((page) => page.orders) ?? [], [list.data]);

  const edit = useCallback(
    (change: (orders: ListedOrder[], index: number) => ListedOrder[]) =>
      queryClient.setQueryData<Pages>(
        queryKey,
        (data) =>
          data && {
            ...data,
            pages: data.pages.map((page, index) => ({ ...page, orders: change(page.orders, index) })),
          },
      ),
    [queryClient, queryKey],
  );
  const addNew = useCallback(
    (arrived: ListedOrder[]) => edit((page, index) => (index === 0 ? [...arrived, ...page] : page)),
    [edit],
  );
  const replace = useCallback(
    (order: ListedOrder) => edit((page) => page.map((listed) => (listed.order_id === order.order_id ? order : listed))),
    [edit],
  );
  /** Sets the `resent` mark of orders. */
  const mark = useCallback(
    (marks: ReadonlyMap<number, ListedOrder['resent']>) =>
      edit((page) =>
        page.map((listed) => {
          const resent = marks.get(listed.order_id);
          return resent === undefined || resent === listed.resent ? listed : { ...listed, resent };
        }),
      ),
    [edit],
  );
  const reload = useCallback(() => queryClient.resetQueries({ queryKey, exact: true }), [queryClient, queryKey]);
  return { list, orders, addNew, replace, mark, reload };
}
